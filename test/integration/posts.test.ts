import { describe, expect, test } from 'vitest'
import { postsListedBytesMax } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi, startApi } from '../support/api.ts'
import { asking, type Fault, makeAccount, makeMedia, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)

const plain = { title: 'A title', base_caption: 'A caption' }
const account = (platform: 'x' | 'bluesky' | 'facebook' = 'x') => makeAccount(stores, mine.workspaceId, platform)
const media = () => makeMedia(stores, mine.workspaceId)
const create = async (body: object = plain) => {
  const { status, body: post } = await ask<ShownPost>('POST', '/v1/posts', body)
  expect([status, post]).toEqual([200, expect.anything()])
  return post
}

describe('creating a post', () => {
  test('bounds what the captions of all its targets come to together', async () => {
    const accounts: number[] = []
    for (let at = 0; at < 4; at++) accounts.push(await account('facebook'))
    const post = (length: number) => ({
      ...plain,
      social_account_ids: accounts,
      platform_captions: { facebook: '🙂'.repeat(length) },
    })
    expect((await create(post(50_000))).targets).toHaveLength(4)
    const { status, body } = await ask('POST', '/v1/posts', post(50_001))
    expect(status).toBe(422)
    expect(body.detail).toMatchObject([{ type: 'value_error', loc: ['body', 'platform_captions'] }])
    expect(body.detail[0].msg).toContain('at most 200000 characters, these have 200004')
  })

  test('answers the draft, with all that it was made of, in its order', async () => {
    const [x, other, bluesky] = [await account(), await account(), await account('bluesky')]
    const [one, two] = [await media(), await media()]
    const post = await create({
      ...plain,
      scheduled_at: '2030-06-01T12:00:00+02:00',
      tags: ['#news', 'b', ...Array(31).fill('news'), '##c'],
      media_ids: [two, one, two],
      social_account_ids: [bluesky, x, other, String(x)],
      platform_captions: { x: 'Short', bluesky: '' },
      thread: [
        'Then',
        { text: 'Then', media_ids: [one, `media_${two}`, one], platform_captions: { x: 'Then, for X', bluesky: '' } },
      ],
    })
    const target = (account: number, platform: string, caption: string | null) => ({
      id: expect.any(Number),
      object_id: expect.stringMatching(/^post_target_\d+$/),
      social_account_id: account,
      platform,
      caption_override: caption,
      status: 'draft',
      publish_result: {},
    })
    expect(post).toEqual({
      id: expect.any(Number),
      object_id: `post_${post.id}`,
      ...plain,
      thread: [
        { text: 'Then', media_ids: [], platform_captions: {} },
        { text: 'Then', media_ids: [one, two], platform_captions: { x: 'Then, for X' } },
      ],
      first_comment: null,
      feed_id: null,
      scheduled_at: '2030-06-01T10:00:00.000Z',
      status: 'draft',
      review: null,
      tags: ['news', 'b', 'c'],
      media_ids: [two, one],
      targets: [target(bluesky, 'bluesky', null), target(x, 'x', 'Short'), target(other, 'x', 'Short')],
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    })
    const targets = post.targets.map((target: object) => ({ ...target, engagement: null }))
    const engagement = { likes: null, comments: null, shares: null, views: null }
    for (const id of [post.id, `post_${post.id}`]) {
      const { body } = await ask('GET', `/v1/posts/${id}`)
      expect(body).toEqual({ ...post, targets, performance: expect.anything(), engagement })
    }
  })

  test('needs a title and a base caption only', async () => {
    expect(await create()).toMatchObject({ scheduled_at: null, tags: [], media_ids: [], targets: [], status: 'draft' })
    // Titles are counted in code points, and any time may be proposed.
    const more = { title: '🙂'.repeat(180), scheduled_at: '2001-01-01T00:00:00.000Z' }
    expect(await create({ ...plain, ...more })).toMatchObject({ ...more, status: 'draft' })
  })

  const manyPlatforms = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`p${at}`, '']))
  test.each<[object, string, object?]>([
    [{ title: '🙂'.repeat(181) }, 'string_too_long', { ctx: { max_length: 180 } }],
    [{ scheduled_at: 'soon' }, 'datetime_from_date_parsing', { ctx: { error: 'input is too short' } }],
    [{ scheduled_at: '9999-12-31T23:59:59-12:00' }, 'datetime_parsing'],
    [{ tags: ['ok', '#'] }, 'string_too_short', { loc: ['body', 'tags', 1], input: '#' }],
    [{ tags: ['a'.repeat(61)] }, 'string_too_long', { ctx: { max_length: 60 } }],
    [{ tags: Array(301).fill('a') }, 'too_long', { loc: ['body', 'tags'] }],
    [
      { tags: Array.from({ length: 31 }, (_, n) => `${n}`) },
      'too_long',
      { ctx: { max_length: 30, actual_length: 31 } },
    ],
    [{ media_ids: Array(21).fill(1) }, 'too_long', { loc: ['body', 'media_ids'] }],
    [{ platform_captions: manyPlatforms }, 'too_long', { ctx: { max_length: 20, actual_length: 21 } }],
    [{ thread: Array(25).fill('a') }, 'too_long', { ctx: { max_length: 24, actual_length: 25 } }],
    [{ thread: ['a', ''] }, 'string_too_short', { loc: ['body', 'thread', 1] }],
    [{ thread: ['a'.repeat(2201)] }, 'string_too_long', { ctx: { max_length: 2200 } }],
    [{ thread: ['\0'] }, 'value_error', { loc: ['body', 'thread', 0] }],
    [{ thread: ['a', 7] }, 'string_type', { loc: ['body', 'thread', 1], input: 7 }],
    [{ thread: [{}] }, 'missing', { loc: ['body', 'thread', 0, 'text'], input: {} }],
    [{ thread: [{ text: ' ' }] }, 'value_error', { loc: ['body', 'thread', 0, 'text'] }],
    [{ thread: [{ text: 'a', platform_captions: { x: ' ' } }] }, 'value_error'],
    [
      { thread: [{ text: 'a', media_ids: Array(21).fill(1) }] },
      'too_long',
      { loc: ['body', 'thread', 0, 'media_ids'], ctx: { max_length: 20 } },
    ],
    [
      { thread: [{ text: 'a', platform_captions: { x: 'a'.repeat(2201) } }] },
      'string_too_long',
      { loc: ['body', 'thread', 0, 'platform_captions', 'x'] },
    ],
    [
      { thread: [{ text: 'a', platform_captions: manyPlatforms }] },
      'too_long',
      { loc: ['body', 'thread', 0, 'platform_captions'] },
    ],
  ])('%j is 422 %s', async (changes, type, more) => {
    const answer = await ask('POST', '/v1/posts', { ...plain, ...changes })
    expect([answer.status, answer.body.detail[0]]).toMatchObject([422, { type, ...more }])
  })

  test('captions of too many platforms are told of as that alone, however wrong each is', async () => {
    const captions = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [at, 1]))
    const { status, body } = await ask('POST', '/v1/posts', { ...plain, platform_captions: captions })
    expect([status, body.detail.map(({ type }: Fault) => type)]).toEqual([422, ['too_long']])
  })
})

describe('the list', () => {
  const ids = async (query = '') => (await ask<ShownPost[]>('GET', `/v1/posts${query}`)).body.map(({ id }) => id)

  test('shows each post as it is alone, newest first', async () => {
    const x = await account()
    const file = await media()
    const made = []
    for (let n = 0; n < 3; n++) {
      made.unshift(await create({ ...plain, tags: [`t${n}`], media_ids: [file], social_account_ids: [x] }))
    }
    expect((await ask('GET', '/v1/posts')).body).toMatchObject(made)
  })

  test('leaves archived posts out, unless they are asked for, and takes every status', async () => {
    const [draft, archived] = [await create(), await create()]
    await ask('POST', `/v1/posts/${archived.id}/archive`)
    expect(await ids()).toEqual([draft.id])
    expect(await ids('?status=draft')).toEqual([draft.id])
    expect(await ids('?status=archived')).toEqual([archived.id])
    for (const status of ['scheduled', 'publishing', 'published', 'failed']) {
      expect(await ids(`?status=${status}`)).toEqual([])
    }
  })

  test('has those of a time alone, its begin included and its end not, local where it has no offset', async () => {
    Object.assign(mine, await makeWorkspace(stores, { timezone: 'Europe/Berlin' }))
    const at = async (scheduled_at: string | null) => (await create({ ...plain, scheduled_at })).id
    const early = await at('2100-02-28T23:59')
    const first = await at('2100-03-01T00:00')
    const last = await at('2100-03-31T23:59')
    await at('2100-04-01T00:00')
    await at(null)
    const month = 'scheduled_from=2100-03-01&scheduled_before=2100-04-01'
    expect(await ids(`?${month}`)).toEqual([last, first])
    expect(await ids(`?${month}&limit=1`)).toEqual([last])
    expect(await ids('?scheduled_before=2100-02-28T23:00:00Z')).toEqual([early])
    expect((await ask('GET', '/v1/posts?scheduled_from=tomorrow')).status).toBe(422)
  })

  test.each(['deleted', '', 'Draft'])('refuses the status %j', async (status) => {
    const answer = await ask('GET', `/v1/posts?status=${status}`)
    const expected = "'draft', 'scheduled', 'publishing', 'published', 'failed' or 'archived'"
    const fault = { type: 'enum', loc: ['query', 'status'], msg: `Input should be ${expected}`, input: status }
    expect(answer).toEqual({ status: 422, body: { detail: [{ ...fault, ctx: { expected } }] } })
  })

  test('ends a page where its captions have become long, and goes on behind it', async () => {
    const facebook = await account('facebook')
    const caption = '🙂'.repeat(60_000)
    const count = Math.ceil((1.5 * postsListedBytesMax) / Buffer.byteLength(caption))
    await stores.pg.query(
      `WITH made AS (
         INSERT INTO posts (workspace_id, title, base_caption) SELECT $1, 'Long', 'c' FROM generate_series(1, $2) RETURNING id
       ) INSERT INTO post_targets (post_id, place, social_account_id, caption_override) SELECT id, 1, $3, $4 FROM made`,
      [mine.workspaceId, count, facebook, caption],
    )
    const first = (await ask<ShownPost[]>('GET', '/v1/posts?limit=200')).body
    const captionBytes = Buffer.byteLength(caption) + 1
    expect(first).toHaveLength(Math.ceil(postsListedBytesMax / captionBytes))
    const rest = (await ask<ShownPost[]>('GET', `/v1/posts?limit=200&before_id=${first.at(-1)!.id}`)).body
    const ids = [...first, ...rest].map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => other - one))
    expect(ids).toHaveLength(count)
  })

  test('takes no more statements for many posts than for one', async () => {
    const x = await account()
    for (let n = 0; n < 8; n++) await create({ ...plain, social_account_ids: [x] })
    let asked = 0
    const query: typeof stores.pg.query = (...of) => {
      asked += 1
      return stores.pg.query(...of)
    }
    const counted = await startApi(stores, { pg: { ...stores.pg, query } })
    const list = asking(counted, () => mine.apiKey)
    await list('GET', '/v1/posts?limit=1')
    const before = asked
    expect((await list('GET', '/v1/posts?limit=8')).body).toHaveLength(8)
    expect(asked - before).toBeLessThanOrEqual(before)
    await counted.close()
  })
})

describe('changing a post', () => {
  const change = async (id: number, body: object) => {
    const answer = await ask<ShownPost>('PATCH', `/v1/posts/${id}`, body)
    expect([answer.status, answer.body]).toEqual([200, expect.anything()])
    return answer.body
  }

  test('leaves what is not sent, replaces what is, and null clears all but title and base caption', async () => {
    const made = await create({
      ...plain,
      scheduled_at: '2030-01-01T00:00:00Z',
      tags: ['a'],
      media_ids: [await media()],
      social_account_ids: [await account()],
      platform_captions: { x: 'Short' },
    })
    const same = await change(made.id, {})
    expect({ ...same, updated_at: '' }).toEqual({ ...made, updated_at: '' })
    expect(Date.parse(same.updated_at)).toBeGreaterThanOrEqual(Date.parse(made.updated_at))
    const nulls = await change(made.id, { title: null, base_caption: null, platform_captions: null })
    expect(nulls).toMatchObject({ ...plain, tags: ['a'], targets: [{ caption_override: null }] })
    const texts = { title: 'T', base_caption: 'C', thread: ['D'], tags: ['c', 'b'] }
    const replaced = { ...texts, media_ids: [await media(), await media()] }
    const thread = [{ text: 'D', media_ids: [], platform_captions: {} }]
    expect(await change(made.id, replaced)).toMatchObject({ ...replaced, thread })
    const none = { scheduled_at: null, thread: null, tags: null, media_ids: null, social_account_ids: null }
    const emptied = { scheduled_at: null, thread: [], tags: [], media_ids: [], targets: [] }
    expect(await change(made.id, none)).toMatchObject(emptied)
  })

  test('keeps the targets of accounts that stay, and their captions', async () => {
    const [x, y, b] = [await account(), await account(), await account('bluesky')]
    const made = await create({
      ...plain,
      social_account_ids: [x, b],
      platform_captions: { x: 'For X', bluesky: 'For Bluesky' },
    })
    const changed = await change(made.id, { social_account_ids: [y, x] })
    expect(changed.targets).toMatchObject([y, x].map((id) => ({ social_account_id: id, caption_override: 'For X' })))
    expect(changed.targets[1]!.id).toBe(made.targets[0]!.id)
    const emptied = await change(made.id, { platform_captions: { x: '' } })
    expect(emptied.targets.map(({ caption_override }) => caption_override)).toEqual([null, null])
  })

  test('keeps the parts of a thread that is not sent, without captions of networks that are left', async () => {
    const [x, bluesky] = [await account(), await account('bluesky')]
    const [first, second] = [await media(), await media()]
    const part = { text: 'Then', media_ids: [second], platform_captions: { x: 'For X', bluesky: 'For Bluesky' } }
    const made = await create({ ...plain, media_ids: [first], social_account_ids: [x, bluesky], thread: ['Now', part] })
    const left = await change(made.id, { social_account_ids: [bluesky], media_ids: [] })
    const { text, media_ids } = part
    const plainPart = { text: 'Now', media_ids: [], platform_captions: {} }
    expect(left).toMatchObject({
      media_ids: [],
      thread: [plainPart, { text, media_ids, platform_captions: { bluesky: 'For Bluesky' } }],
    })
    const shorter = await change(made.id, { thread: [left.thread[1]] })
    expect(shorter.thread).toEqual([left.thread[1]])
    expect((await change(made.id, { thread: ['Now'], media_ids: [first] })).thread).toEqual([plainPart])
  })

  test('keeps the caption of a network beside a target that is published with another', async () => {
    const [waits, is, added] = [await account(), await account(), await account()]
    const made = await create({ ...plain, social_account_ids: [waits, is] })
    await stores.pg.query(
      `UPDATE post_targets SET status = 'published' WHERE post_id = $1 AND social_account_id = $2`,
      [made.id, is],
    )
    const captions = ({ targets }: typeof made) => targets.map(({ caption_override }) => caption_override)
    expect(captions(await change(made.id, { platform_captions: { x: 'v2' } }))).toEqual(['v2', null])
    const changed = await change(made.id, { social_account_ids: [waits, is, added] })
    expect(captions(changed)).toEqual(['v2', null, 'v2'])
  })

  test('refuses captions of platforms that are not chosen and ids that are not there, and then changes nothing', async () => {
    const made = await create()
    const answer = await ask('PATCH', `/v1/posts/${made.id}`, {
      title: 'Other',
      media_ids: [1e9],
      platform_captions: { x: 'a' },
    })
    expect(answer.status).toBe(422)
    expect(answer.body.detail.map(({ loc }: Fault) => loc)).toEqual([
      ['body', 'media_ids', 0],
      ['body', 'platform_captions', 'x'],
    ])
    expect((await ask('GET', `/v1/posts/${made.id}`)).body).toMatchObject(made)
  })

  test.each(['publishing', 'published', 'failed', 'archived'])('is 409 for a post that is %s', async (status) => {
    const { id } = await create()
    await stores.pg.query('UPDATE posts SET status = $2 WHERE id = $1', [id, status])
    expect(await ask('PATCH', `/v1/posts/${id}`, { title: 'T' })).toEqual({
      status: 409,
      body: { detail: 'Only draft and scheduled posts can be edited' },
    })
  })
})

test('each change is told to webhooks, with the post as it was answered', async () => {
  const x = await account()
  const { id } = await create({ ...plain, social_account_ids: [x] })
  const at = { scheduled_at: '2999-01-01T00:00:00Z' }
  const answers = [await ask('PATCH', `/v1/posts/${id}`, { title: 'New' })]
  for (const verb of ['schedule', 'reschedule', 'unschedule', 'archive']) {
    answers.push(
      await ask('POST', `/v1/posts/${id}/${verb}`, verb.startsWith('un') || verb === 'archive' ? undefined : at),
    )
  }
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
  const told = await stores.pg.query<{ type: string; object: object }>(
    'SELECT type, object FROM outbox WHERE workspace_id = $1 ORDER BY id',
    [mine.workspaceId],
  )
  const types = ['created', 'updated', 'scheduled', 'scheduled', 'unscheduled', 'archived']
  expect(told.map(({ type }) => type)).toEqual(types.map((type) => `post.${type}`))
  expect(told.slice(1).map(({ object }) => object)).toEqual(answers.map(({ body }) => body))
})
