import { beforeEach, describe, expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { setUpApi } from '../support/api.ts'
import { asking, type Fault, makeAccount, makeMedia, type ShownPost } from '../support/publishing.ts'

const now = Date.parse('2030-01-10T12:00:00Z')
const clock = fixedClock(now)
const later = '2030-02-01T09:00:00.000Z'

const { stores, api, mine } = setUpApi({ clock })
const ask = asking(api, () => mine.apiKey)
let account: number
beforeEach(async () => {
  account = await makeAccount(stores, mine.workspaceId, 'x')
})

async function create(more: object = {}): Promise<ShownPost> {
  const body = { title: 'T', base_caption: 'C', social_account_ids: [account], ...more }
  const answer = await ask<ShownPost>('POST', '/v1/posts', body)
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  return answer.body
}
const move = (id: number, verb: string, body?: object | null) => ask<ShownPost>('POST', `/v1/posts/${id}/${verb}`, body)
const schedule = (id: number, scheduled_at: unknown = later) => move(id, 'schedule', { scheduled_at })
const read = async (id: number) => (await ask<ShownPost>('GET', `/v1/posts/${id}`)).body

async function scheduled(more: object = {}): Promise<ShownPost> {
  const { status, body } = await schedule((await create(more)).id)
  expect(status).toBe(200)
  return body
}

/** As the publisher leaves it: one account reached, the other not. */
async function failedInPart() {
  const other = await makeAccount(stores, mine.workspaceId, 'bluesky')
  const post = await create({ social_account_ids: [account, other], platform_captions: { x: 'For X' } })
  await stores.pg.query(`UPDATE posts SET status = 'failed', scheduled_at = $2 WHERE id = $1`, [post.id, new Date(now)])
  for (const [at, status, result] of [
    [0, 'published', { url: 'u' }],
    [1, 'failed', { error: {} }],
  ] as const) {
    const sql = 'UPDATE post_targets SET status = $2, publish_result = $3 WHERE id = $1'
    await stores.pg.query(sql, [post.targets[at]!.id, status, result])
  }
  return { id: post.id, other }
}

/** The contract's table of each state: the state after, or 409. */
const transitions: [string, string, string | 409, object?][] = [
  ['draft', 'schedule', 'scheduled', { scheduled_at: later }],
  ['failed', 'schedule', 'scheduled', { scheduled_at: later }],
  ['scheduled', 'reschedule', 'scheduled', { scheduled_at: later }],
  ['failed', 'reschedule', 'scheduled', { scheduled_at: later }],
  ['scheduled', 'unschedule', 'draft'],
  ['draft', 'archive', 'archived'],
  ['scheduled', 'archive', 'archived'],
  ['failed', 'archive', 'archived'],
]
const statuses = ['draft', 'scheduled', 'publishing', 'published', 'failed', 'archived']
const refusals: Record<string, string> = {
  schedule: 'Only draft and failed posts can be scheduled',
  reschedule: 'Only scheduled and failed posts can be rescheduled',
  unschedule: 'Only scheduled posts can be unscheduled',
  archive: 'Only draft, scheduled and failed posts can be archived',
}
const cells = statuses.flatMap((from) =>
  Object.keys(refusals).map((verb) => {
    const [, , to = 409 as const] = transitions.find(([state, by]) => state === from && by === verb) ?? []
    return { from, verb, to }
  }),
)

test.each(cells)('a post that is $from comes to $to by $verb', async ({ from, verb, to }) => {
  const { id } = await create()
  await stores.pg.query('UPDATE posts SET status = $2 WHERE id = $1', [id, from])
  // Where no body is needed, null is none.
  const bodies: Record<string, object | null | undefined> = { unschedule: undefined, archive: null }
  const answer = await move(id, verb, verb in bodies ? bodies[verb] : { scheduled_at: later })
  if (to === 409) expect(answer).toEqual({ status: 409, body: { detail: refusals[verb] } })
  else expect([answer.status, answer.body.status]).toEqual([200, to])
  expect((await read(id)).status).toBe(to === 409 ? from : to)
})

describe('scheduling', () => {
  test('refuses a time that does not lie in the future, and takes the next millisecond', async () => {
    const { id } = await create()
    const msg = 'Value error, The time must lie in the future'
    for (const input of ['2030-01-10T12:00:00Z', '2030-01-10T11:59:59.999Z', '2030-01-10T12:00:00', '1970-01-01', -1]) {
      const { status, body } = await schedule(id, input)
      const fault = { type: 'value_error', loc: ['body', 'scheduled_at'], msg, input }
      expect([status, body]).toEqual([422, { detail: [{ ...fault, ctx: { error: {}, code: 'scheduled_in_past' } }] }])
    }
    expect((await read(id)).status).toBe('draft')
    const next = '2030-01-10T12:00:00.001Z'
    const { status, body } = await schedule(id, next)
    expect([status, body]).toMatchObject([200, { scheduled_at: next, targets: [{ status: 'scheduled' }] }])
    expect(await read(id)).toMatchObject(body)
  })

  test.each<[unknown, string]>([
    [undefined, 'missing'],
    [{ scheduled_at: null }, 'datetime_type'],
    [{ scheduled_at: '2030-02-30T00:00:00Z' }, 'datetime_from_date_parsing'],
    [{ scheduled_at: 1e300 }, 'datetime_parsing'],
  ])('of a body %j is 422 %s', async (body, type) => {
    const answer = await ask('POST', '/v1/posts/1/schedule', body)
    expect([answer.status, answer.body.detail[0].type]).toEqual([422, type])
  })

  test('needs a post that is ready, and says all that it lacks', async () => {
    const instagram = await makeAccount(stores, mine.workspaceId, 'instagram')
    const large = await makeMedia(stores, mine.workspaceId, { contentType: 'image/jpeg', sizeBytes: 6_000_000 })
    const { id } = await create({ base_caption: 'a'.repeat(300), social_account_ids: [account] })
    const faults = async (at?: string) => {
      const { status, body } = await schedule(id, at)
      expect(status).toBe(422)
      return (body as unknown as { detail: Fault[] }).detail.map(({ loc, ctx }) => [loc, ctx!['code']])
    }
    expect(await faults()).toEqual([[['body', 'base_caption'], 'caption_too_long']])
    await ask('PATCH', `/v1/posts/${id}`, { social_account_ids: [account, instagram] })
    expect((await faults('2030-01-01T00:00:00Z')).map(([, code]) => code)).toEqual([
      'scheduled_in_past',
      'caption_too_long',
      'media_missing',
    ])
    await ask('PATCH', `/v1/posts/${id}`, { media_ids: [large], platform_captions: { x: 'Short' } })
    expect(await faults()).toEqual([[['body', 'media_ids', 0], 'media_too_large']])
    await stores.pg.query(`UPDATE social_accounts SET status = 'expired' WHERE workspace_id = $1`, [mine.workspaceId])
    expect((await faults())[0]).toEqual([['body', 'social_account_ids'], 'no_connected_account'])
    await stores.pg.query(`UPDATE social_accounts SET status = 'connected' WHERE workspace_id = $1`, [mine.workspaceId])
    await ask('PATCH', `/v1/posts/${id}`, {
      media_ids: [await makeMedia(stores, mine.workspaceId, { contentType: 'image/jpeg' })],
    })
    expect((await schedule(id)).status).toBe(200)
  })

  test('of one that is published on all of its accounts says so', async () => {
    const { id } = await create()
    await stores.pg.query(`UPDATE post_targets SET status = 'published' WHERE post_id = $1`, [id])
    const { body } = await schedule(id)
    const msg = 'Value error, The post is published on all of its accounts already'
    expect(body).toMatchObject({ detail: [{ loc: ['body', 'social_account_ids'], msg }] })
  })

  test('of a post that failed in part publishes only what is not published yet', async () => {
    for (const verb of ['schedule', 'reschedule']) {
      const { id } = await failedInPart()
      const { status, body } = await move(id, verb, { scheduled_at: later })
      expect(status).toBe(200)
      expect(body.targets.map((target) => [target.status, target.publish_result])).toEqual([
        ['published', { url: 'u' }],
        ['scheduled', {}],
      ])
    }
  })
})

test('rescheduling looks at the time alone, unscheduling clears it, and archiving keeps it and what came of targets', async () => {
  const { id } = await scheduled()
  await stores.pg.query(`UPDATE social_accounts SET status = 'disconnected' WHERE id = $1`, [account])
  const moved = '2030-03-01T00:00:00.000Z'
  const { body } = await move(id, 'reschedule', { scheduled_at: moved })
  expect(body).toMatchObject({ status: 'scheduled', scheduled_at: moved })
  expect((await move(id, 'reschedule', { scheduled_at: new Date(now).toISOString() })).status).toBe(422)
  const waiting = [{ status: 'draft' }]
  expect((await move(id, 'unschedule')).body).toMatchObject({ scheduled_at: null, targets: waiting })
  const failed = await failedInPart()
  expect((await move(failed.id, 'archive')).body.targets.map(({ status }) => status)).toEqual(['published', 'failed'])
  await stores.pg.query(`UPDATE social_accounts SET status = 'connected' WHERE id = $1`, [account])
  const { id: other } = await scheduled()
  expect((await move(other, 'archive')).body).toMatchObject({ scheduled_at: later, targets: waiting })
})

test('where no body is needed, an empty list is none, as PHP writes an object without members', async () => {
  const { id } = await scheduled()
  for (const body of [[1], [[]], { updated_at: 'x' }])
    expect([body, (await move(id, 'unschedule', body)).status]).toEqual([body, 422])
  for (const verb of ['unschedule', 'archive']) expect((await move(id, verb, [])).status).toBe(200)
})

describe('a change of a scheduled post', () => {
  const change = (id: number, body: object) => ask<ShownPost>('PATCH', `/v1/posts/${id}`, body)

  test('must leave it ready, where it touches captions, media or accounts, and schedules new targets', async () => {
    const { id } = await scheduled()
    for (const body of [
      { base_caption: 'a'.repeat(281) },
      { platform_captions: { x: 'a'.repeat(281) } },
      { social_account_ids: null },
      { media_ids: [await makeMedia(stores, mine.workspaceId, { sizeBytes: 1e9 })] },
    ]) {
      expect((await change(id, body)).status).toBe(422)
    }
    expect(await change(id, { base_caption: 'b', title: 'New', tags: ['t'] })).toMatchObject({
      status: 200,
      body: { status: 'scheduled', base_caption: 'b', title: 'New', scheduled_at: later },
    })
    const other = await makeAccount(stores, mine.workspaceId, 'bluesky')
    const { body } = await change(id, { social_account_ids: [account, other] })
    expect(body.targets.map(({ status }) => status)).toEqual(['scheduled', 'scheduled'])
    await change(id, { social_account_ids: [account] })
    await stores.pg.query(`UPDATE social_accounts SET status = 'disconnected' WHERE id = $1`, [account])
    expect((await change(id, { title: 'Newer', tags: null })).status).toBe(200)
    expect((await change(id, { base_caption: 'c' })).status).toBe(422)
  })

  test('moves the time into the future only, and can not take it away', async () => {
    const { id } = await scheduled()
    for (const scheduled_at of [null, new Date(now).toISOString()]) {
      expect((await change(id, { scheduled_at })).body).toMatchObject({ detail: [{ loc: ['body', 'scheduled_at'] }] })
    }
    expect((await change(id, { scheduled_at: '2030-05-01T00:00:00Z' })).body).toMatchObject({
      status: 'scheduled',
      scheduled_at: '2030-05-01T00:00:00.000Z',
    })
  })

  test('that takes out all accounts but those that have it makes it published, of a draft too, and tells so', async () => {
    for (const more of [[], ['unschedule']]) {
      const { id } = await failedInPart()
      await move(id, 'reschedule', { scheduled_at: later })
      for (const verb of more) await move(id, verb)
      const { status, body } = await change(id, { social_account_ids: [account] })
      expect([status, body.status, body.targets.map((target) => target.status)]).toEqual([
        200,
        'published',
        ['published'],
      ])
      expect(body.scheduled_at! < later).toBe(true)
      const told = `SELECT type FROM outbox WHERE object->>'id' = $1 AND object->>'status' = 'published' ORDER BY type`
      expect(await stores.pg.query(told, [String(id)])).toEqual([{ type: 'post.published' }, { type: 'post.updated' }])
      expect((await change(id, { title: 'Late' })).status).toBe(409)
    }
  })

  test('is not judged by accounts that it was published to already, which stay as they were', async () => {
    const { id, other } = await failedInPart()
    await move(id, 'reschedule', { scheduled_at: later })
    const long = 'a'.repeat(290)
    const { status, body } = await change(id, { platform_captions: { x: 'Else' }, base_caption: long })
    expect([status, body.targets.map(({ caption_override }) => caption_override)]).toEqual([200, ['For X', null]])
    const again = await change(id, { platform_captions: { x: 'Else' } })
    expect([again.status, again.body.updated_at]).toEqual([200, body.updated_at])
    expect(await change(id, { social_account_ids: [other] })).toEqual({
      status: 409,
      body: { detail: 'An account that the post is already published to can not be taken out' },
    })
  })
})

describe('of calls at once', () => {
  const atOnce = async (calls: (() => Promise<{ status: number }>)[]) =>
    (await Promise.all(calls.map((call) => call()))).map(({ status }) => status)

  test('to schedule and to archive, what is archived is never scheduled afterwards', async () => {
    for (let n = 0; n < 6; n++) {
      const { id } = await create()
      const calls = [() => schedule(id), () => move(id, 'archive')]
      const statuses = await atOnce(n % 2 === 0 ? calls : calls.reverse())
      const [scheduling, archiving] = n % 2 === 0 ? statuses : statuses.reverse()
      expect(archiving).toBe(200)
      expect([200, 409]).toContain(scheduling)
      expect(await read(id)).toMatchObject({ status: 'archived', targets: [{ status: 'draft' }] })
    }
  })

  test('to unschedule and to archive a scheduled post, and to change it, each sees what the other did', async () => {
    for (let n = 0; n < 6; n++) {
      const { id } = await scheduled()
      const other = await makeAccount(stores, mine.workspaceId, 'bluesky')
      const [unscheduling, changing] = await atOnce([
        () => move(id, 'unschedule'),
        () => ask('PATCH', `/v1/posts/${id}`, { social_account_ids: [account, other] }),
        () => move(id, 'unschedule'),
      ])
      expect([200, 409]).toContain(unscheduling)
      expect(changing).toBe(200)
      const post = await read(id)
      expect([post.status, post.targets.map(({ status }) => status)]).toEqual(['draft', ['draft', 'draft']])
    }
  })
})

describe('deleting a post: what nobody has published yet goes for good, and takes nothing else along', () => {
  const remove = (id: number) => ask<ShownPost>('DELETE', `/v1/posts/${id}`)
  const detail = 'Only posts of which nothing is published or being published can be deleted'
  const createTwo = async (more: object = {}) =>
    create({ social_account_ids: [account, await makeAccount(stores, mine.workspaceId, 'bluesky')], ...more })

  test.each([
    ['draft', true],
    ['scheduled', true],
    ['failed', true],
    ['archived', true],
    ['publishing', false],
    ['published', false],
  ])('a post that is %s: %s', async (status, isDeletable) => {
    const { id } = await createTwo()
    await stores.pg.query('UPDATE posts SET status = $2 WHERE id = $1', [id, status])
    if (isDeletable) expect(await remove(id)).toMatchObject({ status: 200, body: { id, status } })
    else expect(await remove(id)).toEqual({ status: 409, body: { detail } })
    expect((await ask('GET', `/v1/posts/${id}`)).status).toBe(isDeletable ? 404 : 200)
    if (isDeletable) expect(await remove(id)).toEqual({ status: 404, body: { detail: 'Post not found' } })
  })

  test('one that an account has published is kept, whatever became of the others', async () => {
    const { id, targets } = await createTwo()
    await stores.pg.query(`UPDATE posts SET status = 'failed' WHERE id = $1`, [id])
    await stores.pg.query(`UPDATE post_targets SET status = 'published' WHERE id = $1`, [targets[0]!.id])
    expect(await remove(id)).toEqual({ status: 409, body: { detail } })
  })

  test('media and links of a scheduled post stay, and nothing is left for the publisher', async () => {
    const image = await makeMedia(stores, mine.workspaceId)
    const { id } = await createTwo({ media_ids: [image] })
    expect((await ask('POST', `/v1/posts/${id}/schedule`, { scheduled_at: '2040-01-01T00:00:00Z' })).status).toBe(200)
    const linked = { label: 'Of the post', destination_url: 'https://example.com/', post_id: id }
    const { body: link } = await ask<{ id: number; tracking_url: string }>('POST', '/v1/links', linked)
    expect((await remove(id)).status).toBe(200)
    const { body: left } = await ask('GET', `/v1/links/${link.id}`)
    expect(left).toMatchObject({ id: link.id, post_id: null, tracking_url: link.tracking_url })
    expect((await ask<{ id: number }[]>('GET', '/v1/media')).body.map((one) => one.id)).toContain(image)
    expect(await stores.pg.query('SELECT FROM post_targets WHERE post_id = $1', [id])).toEqual([])
  })
})
