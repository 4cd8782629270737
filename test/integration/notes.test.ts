/** Notes by the API: which are in a range by the workspace's clocks, what is refused, and how many there may be. */
import { expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { notesMax } from '../../schemas/limits/note-limits.ts'
import type { Note } from '../../schemas/resources/note.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

// In Havana it is Saturday evening. At the next midnight its clocks go forward by an hour.
const { stores, api, mine } = setUpApi({ clock: fixedClock(Date.parse('2030-03-10T01:30:00Z')) })
const ask = asking(api, () => mine.apiKey)
const add = (note: object) => ask<Note>('POST', '/v1/notes', note)
const textsIn = async (query: string) =>
  (await ask<Note[]>('GET', `/v1/notes?${query}`)).body.map(({ text }) => text).join(' ')
const inZone = (zone: string) =>
  stores.pg.query('UPDATE workspaces SET timezone = $2 WHERE id = $1', [mine.workspaceId, zone])

test('a note is in the ranges that have a part of its minute or day, by the clocks of the workspace', async () => {
  await inZone('America/Havana')
  for (const [day, time, text] of [
    ['2030-03-08', null, 'friday'],
    ['2030-03-09', null, 'saturday'],
    ['2030-03-09', '08:15', 'morning'],
    ['2030-03-09', '21:00', 'later'],
    ['2030-03-10', null, 'sunday'],
    ['0001-01-01', null, 'old'],
    ['9999-12-31', '12:00', 'last'],
  ] as const) {
    expect(await add({ day, text, ...(time && { time }) })).toMatchObject({ status: 200, body: { day, time, text } })
  }
  expect(await textsIn('days=1')).toBe('morning saturday')
  expect(await textsIn('start=2030-03-08&end=2030-03-09')).toBe('later morning saturday friday')
  expect(await textsIn('start=2030-03-10&end=2030-03-10')).toBe('sunday')
  expect(await textsIn('hours=10')).toBe('saturday')
  expect(await textsIn('start=2030-03-09T08:15&end=2030-03-09T08:16')).toBe('morning saturday')
  expect(await textsIn('start=2030-03-09T08:16&end=2030-03-09T21:00')).toBe('saturday')
  expect(await textsIn('start=0001-01-02&end=0001-01-03')).toBe('')
  expect(await textsIn('start=9999-12-31&end=9999-12-31')).toBe('last')
  await inZone('Asia/Tokyo')
  expect(await textsIn('start=2030-03-09&end=2030-03-09')).toBe('later morning saturday')
  expect((await ask('GET', '/v1/notes?start=2030-03-09&end=2030-03-01')).status).toBe(422)
})

test('a note is listed until it is deleted; there are at most so many', async () => {
  const { body: note } = await add({ day: '2030-03-09', text: 'Release' })
  expect((await ask('GET', '/v1/notes')).body).toEqual([note])
  await stores.pg.query(
    `INSERT INTO notes (workspace_id, day, text) SELECT $1, '2020-01-01', 'n' FROM generate_series(2, $2)`,
    [mine.workspaceId, notesMax],
  )
  const full = { status: 409, body: { detail: 'The workspace has as many notes as it may have' } }
  expect(await add({ day: '2030-03-09', text: 'One more' })).toMatchObject(full)
  expect(await ask('DELETE', `/v1/notes/${note.object_id}`)).toMatchObject({ status: 200, body: note })
  expect((await add({ day: '2030-03-09', text: '😀'.repeat(200) })).status).toBe(200)
  expect((await ask('DELETE', `/v1/notes/${note.id}`)).body).toEqual({ detail: 'Note not found' })
})

test('a change keeps what is not sent, and takes the time away where it is null', async () => {
  const { body: note } = await add({ day: '2030-03-08', time: '08:15', text: 'Before' })
  const change = (fields: object) => ask('PATCH', `/v1/notes/${note.object_id}`, fields)
  expect((await change({ text: 'After' })).body).toEqual({ ...note, text: 'After' })
  const moved = { ...note, text: 'After', day: '2030-03-07', time: null }
  expect((await change({ day: '2030-03-07', time: null })).body).toEqual(moved)
  for (const wrong of [{ day: null }, { time: '24:00' }]) expect((await change(wrong)).status).toBe(422)
  expect((await ask('GET', '/v1/notes?start=2030-03-07&end=2030-03-07')).body).toEqual([moved])
  expect((await ask('PATCH', '/v1/notes/0', {})).body).toEqual({ detail: 'Note not found' })
})

test.each([
  [{ day: '2030-02-29' }, 'day value is outside expected range'],
  [{ day: '2030-3-1' }, 'input is too short'],
  [{ day: '2030-03-01T09:00' }, 'a day is written YYYY-MM-DD, without a time'],
  [{ day: '0000-01-01' }, 'year 0 is out of range'],
  [{ time: '24:00' }, 'should match pattern'],
  [{ text: '' }, 'at least 1 character'],
  [{ text: 'x'.repeat(201) }, 'at most 200 characters'],
])('%j is refused: %s', async (wrong, text) => {
  const { status, body } = await add({ day: '2030-03-01', text: 'T', ...wrong })
  expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(text)])
})
