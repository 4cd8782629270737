/** The notes of the range under the chart: for whoever may, adding and deleting, and a list that opens. */
import { useState } from 'preact/hooks'
import type { Note } from '../../../schemas/resources/note.ts'
import { ChangeButtons } from '../parts/change-buttons.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { FormDialog, Removal } from '../parts/dialog.tsx'
import { Failure, Refusal } from '../parts/failure.tsx'
import type { Overview } from '../requests/answers.ts'
import { type Failed, send } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { localDay } from '../view/address.ts'
import { noteTime } from './note-buckets.ts'

interface NotesProps {
  readonly notes: readonly Note[] | undefined
  readonly failure: Failed | undefined
  readonly range: Overview['metrics']['range']
}

/** A note that was just made or changed, and the list of before. */
interface Kept {
  readonly note: Note
  readonly before: NotesProps['notes']
}

export function Notes({ notes: known, failure, range }: NotesProps) {
  const notes = known ?? []
  const { refusal, done } = useRefusal()
  /** `new`: one is added. */
  const [edited, setEdited] = useState<Note | 'new'>()
  const [kept, setKept] = useState<Kept>()
  const [deleted, setDeleted] = useState<Note>()
  const mayChange = may('analytics:write')
  const isLeftOut = kept && known !== kept.before && !notes.some(({ id }) => id === kept.note.id)
  return (
    <div class="notes">
      {failure && <Failure {...failure} />}
      <Refusal text={refusal} />
      {mayChange && (
        <button type="button" class="link" onClick={() => setEdited('new')}>
          Add a note
        </button>
      )}
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
                  <ChangeButtons
                    name={note.text}
                    ends="Delete"
                    change={() => setEdited(note)}
                    end={() => setDeleted(note)}
                  />
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {isLeftOut && (
        <p class="note" role="status">
          The note is saved for {noteTime(kept.note)}, which is outside this range.
        </p>
      )}
      {edited && (
        <NoteForm
          note={edited === 'new' ? undefined : edited}
          day={localDay(Date.parse(range.end) - 1, range.timezone)}
          close={() => setEdited(undefined)}
          made={(note) => setKept({ note, before: known })}
        />
      )}
      {deleted && (
        <Removal
          title="Delete this note"
          verb="Delete"
          path={`/notes/${deleted.id}`}
          close={() => setDeleted(undefined)}
          done={(sent) => {
            setKept(undefined)
            done(sent)
          }}
        >
          <bdi>{deleted.text}</bdi>, of {noteTime(deleted)}, is no longer shown to anybody in the workspace.
        </Removal>
      )}
    </div>
  )
}

interface NoteFormProps {
  /** Undefined: it is a new one. */
  readonly note: Note | undefined
  /** Suggested for a new one. */
  readonly day: string
  made(note: Note): void
  close(): void
}

function NoteForm({ note, day, made, close }: NoteFormProps) {
  /** As the form was filled. */
  const [before] = useState(note)
  const submit = (data: FormData) => {
    const [day, time, text] = ['day', 'time', 'text'].map((name) => String(data.get(name)))
    const written = { day, time: time || null, text }
    if (before === undefined) return send<Note>('POST', '/notes', written)
    return send<Note>('PATCH', `/notes/${before.id}`, changesOf(written, before))
  }
  return (
    <FormDialog
      title={before ? 'Change the note' : 'Add a note'}
      verb={before ? 'Save' : 'Add'}
      close={close}
      made={made}
      submit={submit}
    >
      <label>
        What happened
        <input name="text" placeholder="Release 2.1" defaultValue={before?.text} maxLength={200} required />
      </label>
      <label>
        Day
        <input type="date" name="day" defaultValue={before?.day ?? day} required />
      </label>
      <label>
        Time, if it matters
        <input type="time" name="time" defaultValue={before?.time ?? ''} />
      </label>
    </FormDialog>
  )
}
