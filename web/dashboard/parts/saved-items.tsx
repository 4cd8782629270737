/** Views and funnels that are saved under names: the row that applies one, the form that saves one, the question before one goes. */
import type { ComponentChildren, ComponentProps } from 'preact'
import { type Sent, send } from '../requests/query.ts'
import { may } from '../shell/may.ts'
import { ChangeButtons } from './change-buttons.tsx'
import { Removal } from './dialog.tsx'
import { writtenIn } from './written-in.ts'

interface SavedRowProps {
  readonly name: string
  /** Its content, in words. */
  readonly children: ComponentChildren
  apply(): void
  change(): void
  end(): void
}

export function SavedRow({ name, children, apply, change, end }: SavedRowProps) {
  return (
    <li class="saved">
      <button type="button" class="row" onClick={apply}>
        <span class="name">
          <bdi>{name}</bdi>
        </span>
        <span class="name label">{children}</span>
      </button>
      {may('analytics:write') && <ChangeButtons name={name} ends="Delete" change={change} end={end} />}
    </li>
  )
}

interface SaveFormProps {
  /** `these filters`. */
  readonly what: string
  readonly path: string
  /** Sent beside the name. */
  readonly content: object
  done(sent: Sent<unknown>): void
}

export function SaveForm({ what, path, content, done }: SaveFormProps) {
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const written = writtenIn(form)
    const sent = await send('POST', path, { name: new FormData(form).get('name'), ...content })
    done(sent)
    if ('made' in sent && writtenIn(form) === written) form.reset()
  }
  return (
    <form class="controls" onSubmit={save}>
      <input name="name" aria-label="Name" placeholder={`Name of ${what}`} maxLength={120} required />
      <button type="submit">Save {what}</button>
    </form>
  )
}

interface DeleteSavedProps extends Omit<ComponentProps<typeof Removal>, 'verb' | 'children'> {
  readonly name: string
}

export function DeleteSaved({ name, ...removal }: DeleteSavedProps) {
  return (
    <Removal verb="Delete" {...removal}>
      <bdi>{name}</bdi> is no longer offered to anybody in the workspace. No figure changes.
    </Removal>
  )
}
