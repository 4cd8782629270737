/** Notes of a workspace, on its local days. Held by test/integration/notes.test.ts. */
import type { Queryable } from '../../client.ts'
import { rowsById } from '../rows-by-id.ts'

export interface StoredNote {
  readonly id: number
  /** `2026-11-20` */
  readonly day: string
  /** `14:30`; null for the whole day. */
  readonly time: string | null
  readonly text: string
  readonly created_at: Date
}

const columns = `id, to_char(day, 'YYYY-MM-DD') AS day, to_char(minute, 'HH24:MI') AS time, text, created_at`

export const { lock: lockNote, remove: deleteNote } = rowsById<StoredNote>('notes', columns)

/** Wall times, in milliseconds as if they were UTC; `end` is exclusive. */
export interface LocalSpan {
  readonly start: number
  readonly end: number
}

const localTime = (place: string) => `(to_timestamp(${place}::float8 / 1000) AT TIME ZONE 'UTC')`

/** Those whose minute, or day, has a part of the span; the latest first. */
export function listNotes(q: Queryable, workspaceId: number, { start, end }: LocalSpan): Promise<StoredNote[]> {
  return q.query<StoredNote>(
    `SELECT ${columns} FROM notes
     WHERE workspace_id = $1 AND day BETWEEN ${localTime('$2')}::date AND ${localTime('$3')}::date
       AND coalesce(day + minute + interval '1 minute', day + 1) > ${localTime('$2')}
       AND coalesce(day + minute, day) < ${localTime('$3')}
     ORDER BY notes.day DESC, minute DESC NULLS LAST, id DESC`,
    [workspaceId, start, end],
  )
}

export async function countNotes(q: Queryable, workspaceId: number): Promise<number> {
  const [row] = await q.query<{ count: number }>('SELECT count(*)::int AS count FROM notes WHERE workspace_id = $1', [
    workspaceId,
  ])
  return row!.count
}

export async function insertNote(
  tx: Queryable,
  workspaceId: number,
  { day, time, text }: Pick<StoredNote, 'day' | 'time' | 'text'>,
): Promise<StoredNote> {
  const [note] = await tx.query<StoredNote>(
    `INSERT INTO notes (workspace_id, day, minute, text) VALUES ($1, $2, $3, $4) RETURNING ${columns}`,
    [workspaceId, day, time, text],
  )
  return note!
}

/** The note is locked. */
export async function updateNote(
  tx: Queryable,
  workspaceId: number,
  { id, day, time, text }: Omit<StoredNote, 'created_at'>,
): Promise<StoredNote> {
  const [note] = await tx.query<StoredNote>(
    `UPDATE notes SET day = $3, minute = $4, text = $5 WHERE workspace_id = $1 AND id = $2 RETURNING ${columns}`,
    [workspaceId, id, day, time, text],
  )
  return note!
}
