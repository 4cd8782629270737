/** The list of snippets: texts that posts are written with, for everybody in the workspace. */
import { useState } from 'preact/hooks'
import type { Snippet } from '../../../schemas/resources/snippet.ts'
import { ChangeButtons } from '../parts/change-buttons.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { Dialog, FormDialog, Removal } from '../parts/dialog.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import { send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'

export function SavedTexts({ close }: { close(): void }) {
  const { answer, failure, isComing } = useAnswer<readonly Snippet[]>('/snippets')
  const { refusal, done } = useRefusal()
  /** `new`: one is added. */
  const [edited, edit] = useState<Snippet | 'new'>()
  const [deleted, setDeleted] = useState<Snippet>()
  if (edited) return <SnippetForm snippet={edited === 'new' ? undefined : edited} close={() => edit(undefined)} />
  if (deleted) {
    return (
      <Removal
        title="Delete this text"
        verb="Delete"
        path={`/snippets/${deleted.id}`}
        close={() => setDeleted(undefined)}
        done={done}
      >
        <bdi>{deleted.name}</bdi> is no longer offered to anybody in the workspace. Posts keep what was put into them.
      </Removal>
    )
  }
  return (
    <Dialog title="Saved texts" close={close}>
      {failure && <Failure {...failure} />}
      {isComing && <p class="empty">…</p>}
      {answer?.length === 0 && (
        <p class="empty">A saved text, such as a group of hashtags or a signature, is put into captions by its name.</p>
      )}
      <ul aria-label="Saved texts">
        {answer?.map((snippet) => (
          <li key={snippet.id} class="item">
            <span class="name">
              <bdi>{snippet.name}</bdi>
            </span>
            <span class="name label">
              <bdi>{snippet.text}</bdi>
            </span>
            <ChangeButtons
              name={snippet.name}
              ends="Delete"
              change={() => edit(snippet)}
              end={() => setDeleted(snippet)}
            />
          </li>
        ))}
      </ul>
      <Refusal text={refusal} />
      <button type="button" onClick={() => edit('new')}>
        Add a text
      </button>
    </Dialog>
  )
}

interface SnippetFormProps {
  /** Undefined: it is a new one. */
  readonly snippet: Snippet | undefined
  close(): void
}

function SnippetForm({ snippet: before, close }: SnippetFormProps) {
  const submit = (data: FormData) => {
    // Forms send line ends as CR LF.
    const text = String(data.get('text')).replaceAll('\r\n', '\n')
    const written = { name: String(data.get('name')), text }
    if (before === undefined) return send<Snippet>('POST', '/snippets', written)
    return send<Snippet>('PATCH', `/snippets/${before.id}`, changesOf(written, before))
  }
  return (
    <FormDialog
      title={before ? 'Change the text' : 'Add a text'}
      verb={before ? 'Save' : 'Add'}
      close={close}
      submit={submit}
    >
      <label>
        Name
        <input name="name" placeholder="Hashtags of spring" defaultValue={before?.name} maxLength={60} required />
      </label>
      <label>
        Text
        <textarea
          name="text"
          rows={4}
          placeholder="#spring #sale"
          defaultValue={before?.text}
          maxLength={1000}
          required
        />
      </label>
    </FormDialog>
  )
}
