/** The week's posting times, and posts that join the queue. The clock stands on a Thursday at noon. */
import { beforeEach, describe, expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { postingTimesMax } from '../../schemas/limits/publish-limits.ts'
import { setUpApi } from '../support/api.ts'
import { asking, makeAccount, type ShownPost } from '../support/publishing.ts'

const clock = fixedClock(Date.parse('2030-01-10T12:00:00Z'))
const { stores, api, mine } = setUpApi({ clock })
const ask = asking(api, () => mine.apiKey)
let account: number
beforeEach(async () => {
  clock.set(Date.parse('2030-01-10T12:00:00Z'))
  account = await makeAccount(stores, mine.workspaceId, 'x')
})

const set = (times: unknown) => ask('PATCH', '/v1/posting-times', { times })
const free = async (): Promise<string[]> => (await ask('GET', '/v1/posting-times')).body.free
async function create(more: object = {}): Promise<number> {
  const body = { title: 'T', base_caption: 'C', social_account_ids: [account], ...more }
  return (await ask<ShownPost>('POST', '/v1/posts', body)).body.id
}
const move = (id: number, verb: string, body?: object) => ask<ShownPost>('POST', `/v1/posts/${id}/${verb}`, body)
const queued = async (id: number) => {
  const { status, body } = await move(id, 'queue')
  return status === 200 ? body.scheduled_at : [status, (body as unknown as { detail: unknown }).detail]
}
const at = (weekday: number, time: string) => ({ weekday, time })
const thursdays = [at(4, '12:00'), at(4, '18:30')]

test('times are replaced as a whole, without repeats, in the order of the week, and audited', async () => {
  const none = { times: [], free: [] }
  expect((await ask('GET', '/v1/posting-times')).body).toEqual(none)
  const { body } = await set([at(7, '00:00'), at(4, '18:30'), at(4, '09:05'), at(4, '18:30')])
  expect(body.times).toEqual([at(4, '09:05'), at(4, '18:30'), at(7, '00:00')])
  expect(body.free.slice(0, 3)).toEqual([
    '2030-01-10T18:30:00.000Z',
    '2030-01-13T00:00:00.000Z',
    '2030-01-17T09:05:00.000Z',
  ])
  expect((await ask('GET', '/v1/posting-times')).body).toEqual(body)
  expect((await set([])).body).toEqual(none)
  const { body: audit } = await ask('GET', '/v1/audit-log?action=posting_times.update')
  expect(audit).toHaveLength(2)
})

test.each<[unknown, (string | number)[], string]>([
  [undefined, ['times'], 'missing'],
  [[at(0, '09:00')], ['times', 0, 'weekday'], 'greater_than_equal'],
  [[at(8, '09:00')], ['times', 0, 'weekday'], 'less_than_equal'],
  [[{ time: '09:00' }], ['times', 0, 'weekday'], 'missing'],
  [[at(1, '24:00')], ['times', 0, 'time'], 'string_pattern_mismatch'],
  [[at(1, '9:00')], ['times', 0, 'time'], 'string_pattern_mismatch'],
  [[at(1, '09:00\n')], ['times', 0, 'time'], 'string_pattern_mismatch'],
  [Array.from({ length: postingTimesMax + 1 }, () => at(1, '09:00')), ['times'], 'too_long'],
])('times %j are 422, and those before stay', async (times, loc, type) => {
  await set(thursdays)
  const { status, body } = await set(times)
  expect([status, body.detail[0].loc, body.detail[0].type]).toEqual([422, ['body', ...loc], type])
  expect((await ask('GET', '/v1/posting-times')).body.times).toEqual(thursdays)
})

describe('a post that joins the queue', () => {
  test('takes the first time that no other has, by whatever way that one was scheduled', async () => {
    await set(thursdays)
    const [first, second] = [await create({ scheduled_at: '2031-01-01T00:00:00Z' }), await create()]
    const seconds = { scheduled_at: '2030-01-17T12:00:30Z' }
    expect((await move(await create(), 'schedule', seconds)).status).toBe(200)
    expect([await queued(first), await queued(second)]).toEqual([
      '2030-01-10T18:30:00.000Z',
      '2030-01-17T18:30:00.000Z',
    ])
    expect(await free()).not.toContain('2030-01-17T18:30:00.000Z')
    await move(first, 'unschedule')
    expect((await free())[0]).toBe('2030-01-10T18:30:00.000Z')
    // A time doesn't lie in the future any more once it has come.
    clock.set(Date.parse('2030-01-10T18:30:00Z'))
    expect(await queued(first)).toBe('2030-01-24T12:00:00.000Z')
    const [told] = await stores.pg.query<{ type: string }>('SELECT type FROM outbox ORDER BY id DESC LIMIT 1')
    expect(told!.type).toBe('post.scheduled')
  })

  test('must be ready, a draft or failed; without a free time it is refused and stays', async () => {
    const id = await create()
    expect(await queued(id)).toEqual([409, 'The workspace has no posting times'])
    await set(thursdays)
    expect((await move(await create({ social_account_ids: [] }), 'queue')).status).toBe(422)
    await stores.pg.query("UPDATE posts SET status = 'failed' WHERE id = $1", [id])
    expect(await queued(id)).toBe('2030-01-10T18:30:00.000Z')
    expect(await queued(id)).toEqual([409, 'Only draft and failed posts can be scheduled'])
    // As many as there are times on this day and the 60 after it.
    const others = (await free()).length
    expect(others).toBe(16)
    await stores.pg.query(
      `INSERT INTO posts (workspace_id, title, base_caption, status, scheduled_at)
       SELECT $1, 'T', 'C', 'publishing', unnest($2::timestamptz[])`,
      [mine.workspaceId, await free()],
    )
    const late = await create()
    expect(await queued(late)).toEqual([409, 'No posting time of the next 60 days is free'])
    expect((await ask<ShownPost>('GET', `/v1/posts/${late}`)).body.status).toBe('draft')
  })

  test('never gets the time of another that joins at the same moment', async () => {
    await set([...thursdays, at(5, '10:00')])
    const ids = await Promise.all(Array.from({ length: 8 }, () => create()))
    const wanted = (await free()).slice(0, 8)
    const taken = await Promise.all(ids.map(queued))
    expect([...taken].sort()).toEqual(wanted)
  })

  test('goes by the clocks of the workspace, which a spring night may put forward', async () => {
    await stores.pg.query("UPDATE workspaces SET timezone = 'Europe/Berlin' WHERE id = $1", [mine.workspaceId])
    clock.set(Date.parse('2030-03-30T08:00:00Z'))
    await set([at(6, '09:00'), at(7, '02:30'), at(7, '03:30'), at(1, '09:00')])
    const ids = [await create(), await create()]
    expect([await queued(ids[0]!), await queued(ids[1]!)]).toEqual([
      '2030-03-31T01:30:00.000Z',
      '2030-04-01T07:00:00.000Z',
    ])
  })
})
