/** Filters that the workspace has saved under names: a click puts one in place of the page's filters. */
import { useState } from 'preact/hooks'
import type { Segment } from '../../schemas/resources/segment.ts'
import { type Filter, filterNames, type View } from './address.ts'
import { changesOf } from './changes-of.ts'
import { Confirm, Dialog, FormDialog } from './dialog.tsx'
import { may } from './may.ts'
import { ChangeButtons, Failure, Refusal } from './parts.tsx'
import { send, useAnswer, useRefusal } from './query.ts'
import { FilterText } from './view-controls.tsx'

interface SavedViewsProps {
  readonly view: View
  go(view: View): void
  close(): void
}

/** Others save few. */
const againMs = 60_000

export function SavedViews({ view, go, close }: SavedViewsProps) {
  const { answer, failure } = useAnswer<readonly Segment[]>('/segments', { againMs })
  const { refusal, done } = useRefusal()
  const [edited, setEdited] = useState<Segment>()
  const [deleted, setDeleted] = useState<Segment>()
  const mayChange = may('analytics:write')
  const apply = (filters: readonly Filter[]) => {
    go({ ...view, filters })
    close()
  }
  const save = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const sent = await send('POST', '/segments', {
      name: new FormData(form).get('name'),
      filters: byName(view.filters),
    })
    done(sent)
    if ('made' in sent) form.reset()
  }
  if (deleted) {
    return (
      <Confirm
        title="Delete this view"
        verb="Delete"
        close={() => setDeleted(undefined)}
        confirmed={async () => {
          done(await send('DELETE', `/segments/${deleted.id}`))
          setDeleted(undefined)
        }}
      >
        <bdi>{deleted.name}</bdi> is no longer offered to anybody in the workspace. No figure changes.
      </Confirm>
    )
  }
  if (edited) return <ChangeView segment={edited} filters={view.filters} close={() => setEdited(undefined)} />
  return (
    <Dialog title="Saved views" close={close}>
      {failure && <Failure {...failure} />}
      {answer === undefined && !failure && <p class="empty">…</p>}
      {answer?.length === 0 && (
        <p class="empty">A saved view is a name for filters, such as “Phones in France”, for all of the workspace.</p>
      )}
      <ul aria-label="Saved views">
        {answer?.map((segment) => (
          <li key={segment.id} class="saved">
            <button type="button" class="row" onClick={() => apply(filtersOf(segment))}>
              <span class="name">
                <bdi>{segment.name}</bdi>
              </span>
              <span class="name label">
                {filtersOf(segment).map((filter, at) => (
                  <span key={`${filter.name} ${filter.value}`}>
                    {at > 0 && ', '}
                    <FilterText {...filter} />
                  </span>
                ))}
              </span>
            </button>
            {mayChange && (
              <ChangeButtons
                name={segment.name}
                ends="Delete"
                change={() => setEdited(segment)}
                end={() => setDeleted(segment)}
              />
            )}
          </li>
        ))}
      </ul>
      <Refusal text={refusal} />
      {mayChange && view.filters.length === 0 && <p class="note">Filter the page first, then save its filters here.</p>}
      {mayChange && view.filters.length > 0 && (
        <form class="controls" onSubmit={save}>
          <input name="name" aria-label="Name" placeholder="Name of these filters" maxLength={120} required />
          <button type="submit">Save these filters</button>
        </form>
      )}
    </Dialog>
  )
}

interface ChangeViewProps {
  readonly segment: Segment
  /** The page's. */
  readonly filters: readonly Filter[]
  close(): void
}

function ChangeView({ segment, filters, close }: ChangeViewProps) {
  /** As the form was filled. */
  const [{ id, ...before }] = useState({ id: segment.id, name: segment.name, filters: byName(filtersOf(segment)) })
  const submit = (data: FormData) => {
    const view = { name: String(data.get('name')), filters: data.has('replace') ? byName(filters) : before.filters }
    return send('PATCH', `/segments/${id}`, changesOf(view, before))
  }
  return (
    <FormDialog title="Change the view" verb="Save" {...{ close, submit }} made={close}>
      <label>
        Name
        <input name="name" defaultValue={before.name} maxLength={120} required />
      </label>
      {filters.length > 0 && (
        <label class="choice">
          <input type="checkbox" name="replace" /> Put the page’s filters in place of its own
        </label>
      )}
    </FormDialog>
  )
}

function filtersOf({ filters }: Segment): Filter[] {
  return filterNames.flatMap((name) => (filters[name] ?? []).map((value) => ({ name, value })))
}

/** As the API takes them. */
function byName(filters: readonly Filter[]): Record<string, string[]> {
  return Object.fromEntries(filters.map(({ name }) => [name, valuesOf(filters, name)]))
}

function valuesOf(filters: readonly Filter[], wanted: Filter['name']): string[] {
  return filters.flatMap(({ name, value }) => (name === wanted ? [value] : []))
}
