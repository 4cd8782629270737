/** Notes on days, which the overview's chart shows. */
import { z } from 'zod'
import {
  countNotes,
  deleteNote,
  insertNote,
  listNotes,
  lockNote,
  type StoredNote,
  updateNote,
} from '../../../postgres/tables/figures/notes.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { notesMax } from '../../../schemas/limits/note-limits.ts'
import { Note, NoteCreate, NoteUpdate } from '../../../schemas/resources/note.ts'
import { wallTimeAt } from '../../../schemas/time/time-zone.ts'
import { rangeOf, rangeParameters } from '../analytics/range-query.ts'
import { defineOperation } from '../define.ts'

export const listOwnNotes = defineOperation({
  name: 'note.list',
  http: { method: 'GET', path: '/v1/notes' },
  tool: 'svc.list_notes',
  toolset: 'analytics',
  summary: 'List the notes of a period, the latest day first.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: { query: z.object(rangeParameters) },
  output: z.array(Note),
  async handle({ query, workspace: { id, timezone }, stores: { pg }, clock }) {
    const { start, end } = rangeOf(query, timezone, clock.now())
    // By the last moment: clocks that skip midnight would carry the end into the next day.
    const span = { start: wallTimeAt(start, timezone), end: wallTimeAt(end - 1, timezone) + 1 }
    return (await listNotes(pg, id, span)).map(serialize)
  },
})

export const createNote = defineOperation({
  name: 'note.create',
  http: { method: 'POST', path: '/v1/notes' },
  tool: 'svc.create_note',
  toolset: 'analytics',
  summary: 'Note what happened on a day, or at a time of it.',
  tag: 'Analytics',
  effect: 'create',
  scope: 'analytics:write',
  input: { body: NoteCreate },
  output: Note,
  problems: ['notes_full'],
  async handle({ body, workspace, stores: { pg } }) {
    await lockWorkspace(pg, workspace.id)
    if ((await countNotes(pg, workspace.id)) >= notesMax) throw problem('notes_full')
    return serialize(await insertNote(pg, workspace.id, body))
  },
})

export const changeNote = defineOperation({
  name: 'note.update',
  http: { method: 'PATCH', path: '/v1/notes/{note_id}' },
  tool: 'svc.update_note',
  toolset: 'analytics',
  summary: 'Change a note. Fields that are left out stay.',
  tag: 'Analytics',
  effect: 'update',
  scope: 'analytics:write',
  input: { path: z.object({ note_id: idInPath('note') }), body: NoteUpdate },
  output: Note,
  problems: ['note_not_found'],
  async handle({ path: { note_id }, body, workspace, stores: { pg } }) {
    const before = await lockNote(pg, workspace.id, note_id)
    if (before === null) throw problem('note_not_found')
    const { day = before.day, time = before.time, text = before.text } = body
    return serialize(await updateNote(pg, workspace.id, { id: note_id, day, time, text }))
  },
})

export const removeNote = defineOperation({
  name: 'note.delete',
  http: { method: 'DELETE', path: '/v1/notes/{note_id}' },
  tool: 'svc.delete_note',
  toolset: 'analytics',
  summary: 'Delete a note.',
  tag: 'Analytics',
  effect: 'delete',
  scope: 'analytics:write',
  input: { path: z.object({ note_id: idInPath('note') }) },
  output: Note,
  problems: ['note_not_found'],
  async handle({ path: { note_id }, workspace, stores: { pg } }) {
    const note = await deleteNote(pg, workspace.id, note_id)
    if (note === null) throw problem('note_not_found')
    return serialize(note)
  },
})

function serialize({ created_at, ...note }: StoredNote): z.output<typeof Note> {
  return { ...note, object_id: `note_${note.id}`, created_at: created_at.toISOString() }
}
