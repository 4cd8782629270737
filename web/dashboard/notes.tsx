/** The notes of the range under the chart: a list that opens, and for whoever may, adding and deleting. */
import { useState } from 'preact/hooks'
import type { Note } from '../../schemas/resources/note.ts'
import { localDay } from './address.ts'
import { Confirm, FormDialog } from './dialog.tsx'
import { may } from './may.ts'
import { noteTime } from './note-buckets.ts'
import type { Overview } from './overview-data.ts'
import { Failure, Refusal } from './parts.tsx'
import { type Failed, send, useRefusal } from './query.ts'

interface NotesProps {
  readonly notes: readonly Note[] | undefined
  readonly failure: Failed | undefined
  readonly range: Overview['metrics']['range']
}

/** A note that was just made, and the list of before. */
interface Added {
  readonly note: Note
  readonly before: NotesProps['notes']
}

export function Notes({ notes: known, failure, range }: NotesProps) {
  const notes = known ?? []
  const { refusal, done } = useRefusal()
  const [isAdding, setAdding] = useState(false)
  const [added, setAdded] = useState<Added>()
  const [deleted, setDeleted] = useState<Note>()
  const mayChange = may('analytics:write')
  const isLeftOut = added && known !== added.before && !notes.some(({ id }) => id === added.note.id)
  return (
    <div class="notes">
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {notes.length > 0 && (
        <details>
          <summary>
            Notes <span class="label">{notes.length}</span>
          </summary>
          <ul aria-label="Notes">
            {notes.map((note) => (
              <li key={note.id} class="item">
                <span class="label">{noteTime(note)}</span>
                <bdi>{note.text}</bdi>
                {mayChange && (
                  <button
                    type="button"
                    class="link"
                    aria-label={`Delete ${note.text}`}
                    onClick={() => setDeleted(note)}
                  >
                    ×
                  </button>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {mayChange && (
        <button type="button" class="link" onClick={() => setAdding(true)}>
          Add a note
        </button>
      )}
      {isLeftOut && (
        <p class="note" role="status">
          The note is kept for {noteTime(added.note)}, which this range doesn’t have.
        </p>
      )}
      {isAdding && (
        <NoteForm
          day={localDay(Date.parse(range.end) - 1, range.timezone)}
          close={() => setAdding(false)}
          made={(note) => {
            setAdding(false)
            setAdded({ note, before: known })
          }}
        />
      )}
      {deleted && (
        <Confirm
          title="Delete this note"
          verb="Delete"
          close={() => setDeleted(undefined)}
          confirmed={async () => {
            setAdded(undefined)
            done(await send('DELETE', `/notes/${deleted.id}`))
            setDeleted(undefined)
          }}
        >
          <bdi>{deleted.text}</bdi>, of {noteTime(deleted)}, is no longer shown to anybody in the workspace.
        </Confirm>
      )}
    </div>
  )
}

interface NoteFormProps {
  /** Suggested. */
  readonly day: string
  made(note: Note): void
  close(): void
}

function NoteForm({ day, made, close }: NoteFormProps) {
  const submit = (data: FormData) =>
    send<Note>('POST', '/notes', { day: data.get('day'), time: data.get('time') || null, text: data.get('text') })
  return (
    <FormDialog title="Add a note" verb="Add" {...{ close, made, submit }}>
      <label>
        What happened
        <input name="text" placeholder="Release 2.1" maxLength={200} required />
      </label>
      <label>
        Day
        <input type="date" name="day" defaultValue={day} required />
      </label>
      <label>
        Time, if it matters
        <input type="time" name="time" />
      </label>
    </FormDialog>
  )
}
