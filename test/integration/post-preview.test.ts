import { expect, test } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import { setUpApi } from '../support/api.ts'
import { asking, makeAccount, makeMedia } from '../support/publishing.ts'

interface Preview {
  readonly valid: boolean
  readonly issues: { loc: unknown[]; severity: string; code: string; social_account_id: number | null }[]
  readonly targets: { social_account_id: number; valid: boolean; thread: object[] }[]
  readonly scheduled_at: string | null
}

const clock = fixedClock(Date.parse('2030-01-10T12:00:00Z'))

const { stores, api, mine } = setUpApi({ clock })
const ask = asking(api, () => mine.apiKey)

const plain = { title: 'T', base_caption: 'Caption' }
const preview = async (body: object) => {
  const answer = await ask<Preview>('POST', '/v1/posts/preview', { ...plain, ...body })
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  return answer.body
}
const codes = ({ issues }: Preview) => issues.map(({ code }) => code)

test('shows each target with the caption that it would get, and that nothing is wrong', async () => {
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  const bluesky = await makeAccount(stores, mine.workspaceId, 'bluesky')
  const media = await makeMedia(stores, mine.workspaceId)
  const [good, caption] = [{ media_count: 1, thread: [], first_comment: null, valid: true }, 'Für 🦋']
  expect(
    await preview({
      scheduled_at: '2030-02-01T00:00:00+01:00',
      media_ids: [media],
      social_account_ids: [x, bluesky, x],
      platform_captions: { bluesky: caption },
    }),
  ).toEqual({
    valid: true,
    issues: [],
    targets: [
      { ...good, social_account_id: x, platform: 'x', caption: 'Caption', character_count: 7, character_limit: 280 },
      { ...good, social_account_id: bluesky, platform: 'bluesky', caption, character_count: 5, character_limit: 300 },
    ],
    scheduled_at: '2030-01-31T23:00:00.000Z',
  })
})

test('tells of the parts of a thread that a network doesn’t take, and refuses them of a scheduled post', async () => {
  const account = (platform: 'x' | 'linkedin') => makeAccount(stores, mine.workspaceId, platform)
  const [x, linkedin] = [await account('x'), await account('linkedin')]
  const thread = ['Second', 'c'.repeat(281), 'Für 🦋']
  const shownAs = (caption: string, at: number) => ({ caption, character_count: [6, 281, 6][at], media_count: 0 })
  const shown = await preview({ thread, social_account_ids: [x, linkedin] })
  const message = 'X takes captions of at most 280 characters, part 3 has 281'
  expect(shown).toMatchObject({
    valid: false,
    issues: [
      { loc: ['body', 'thread', 1], code: 'caption_too_long', platform: 'x', message },
      { loc: ['body', 'thread'], code: 'thread_not_taken', platform: 'linkedin', social_account_id: linkedin },
    ],
    targets: [{ thread: thread.map(shownAs), valid: false }, { valid: false }],
  })
  const { id } = (await ask('POST', '/v1/posts', { ...plain, social_account_ids: [x] })).body
  await ask('POST', `/v1/posts/${id}/schedule`, { scheduled_at: '2030-02-01T00:00:00Z' })
  expect(await ask('PATCH', `/v1/posts/${id}`, { thread })).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'thread', 1], ctx: { code: 'caption_too_long', platform: 'x' } }] },
  })
  expect((await ask('PATCH', `/v1/posts/${id}`, { thread: ['Second'] })).body).toMatchObject({ status: 'scheduled' })
})

test('tells of the media and captions of each part of a thread, and of those that are not there', async () => {
  const accounts = [
    await makeAccount(stores, mine.workspaceId, 'x'),
    await makeAccount(stores, mine.workspaceId, 'threads'),
  ]
  const [image, film] = [
    await makeMedia(stores, mine.workspaceId),
    await makeMedia(stores, mine.workspaceId, { contentType: 'video/mp4' }),
  ]
  const thread = [
    { text: 'Second', media_ids: [image], platform_captions: { x: 'Second, for X', bluesky: 'stray' } },
    { text: 'Third', media_ids: [image, film, film, 404] },
  ]
  const { issues, targets } = await preview({ thread, social_account_ids: accounts })
  expect(issues).toMatchObject([
    { loc: ['body', 'thread', 0, 'platform_captions', 'bluesky'], code: 'platform_not_chosen' },
    { loc: ['body', 'thread', 1, 'media_ids', 3], code: 'media_not_found' },
    {
      loc: ['body', 'thread', 1, 'media_ids'],
      code: 'media_mixed',
      platform: 'x',
      message: 'Part 3: X takes images or videos, not both in one post',
    },
  ])
  expect(targets.map(({ thread }) => thread)).toEqual(
    ['Second, for X', 'Second'].map((caption) => [
      { caption, character_count: caption.length, media_count: 1 },
      { caption: 'Third', character_count: 5, media_count: 2 },
    ]),
  )
  const faulty = await ask('POST', '/v1/posts', { ...plain, social_account_ids: accounts, thread })
  expect(faulty.body.detail.map(({ loc, input }: { loc: unknown; input: unknown }) => [loc, input])).toEqual([
    [['body', 'thread', 0, 'platform_captions', 'bluesky'], 'stray'],
    [['body', 'thread', 1, 'media_ids', 3], 404],
  ])
})

test('reports all that is wrong at the place in the body that it is about', async () => {
  const tiktok = await makeAccount(stores, mine.workspaceId, 'tiktok')
  const x = await makeAccount(stores, mine.workspaceId, 'x')
  const image = await makeMedia(stores, mine.workspaceId, { altText: '' })
  const shown = await preview({
    base_caption: 'a'.repeat(281),
    scheduled_at: '2030-01-10T12:00:00Z',
    media_ids: [1e12, image],
    social_account_ids: [1e12, tiktok, x],
    platform_captions: { tiktok: 'b'.repeat(2201), mastodon: 'c' },
  })
  expect(shown).toMatchObject({ valid: false, targets: [{ valid: false }, { valid: false }] })
  const told = ({ loc, severity, code, social_account_id: account }: Preview['issues'][0]) =>
    `${severity} ${code} at ${loc.join('.')}${account === null ? '' : ` of ${account === x ? 'x' : 'tiktok'}`}`
  expect(shown.issues.map(told)).toEqual([
    'error scheduled_in_past at body.scheduled_at',
    'error media_not_found at body.media_ids.0',
    'error account_not_found at body.social_account_ids.0',
    'error platform_not_chosen at body.platform_captions.mastodon',
    'error caption_too_long at body.platform_captions.tiktok of tiktok',
    'error video_missing at body.media_ids of tiktok',
    'error media_kind at body.media_ids.1 of tiktok',
    'error caption_too_long at body.base_caption of x',
    'warning alt_text_missing at body.media_ids.1 of x',
  ])
})

test('needs one connected account; another that is not is a warning', async () => {
  const gone = await makeAccount(stores, mine.workspaceId, 'x')
  await stores.pg.query(`UPDATE social_accounts SET status = 'disconnected' WHERE id = $1`, [gone])
  expect(codes(await preview({}))).toEqual(['no_connected_account'])
  const alone = await preview({ social_account_ids: [gone] })
  expect([alone.valid, codes(alone)]).toEqual([false, ['no_connected_account', 'account_not_connected']])
  const here = await makeAccount(stores, mine.workspaceId, 'x')
  const both = await preview({ social_account_ids: [gone, here] })
  expect([both.valid, codes(both)]).toEqual([true, ['account_not_connected']])
  expect(both.targets.map(({ valid }) => valid)).toEqual([false, true])
})

test('what it finds valid can be created and scheduled, and what it does not can not', async () => {
  const instagram = await makeAccount(stores, mine.workspaceId, 'instagram')
  const mediaOf = (contentType: string) => makeMedia(stores, mine.workspaceId, { contentType })
  for (const [media_ids, status] of [
    [[await mediaOf('image/jpeg')], 200],
    [[await mediaOf('image/png')], 422],
    [[], 422],
  ] as const) {
    const body = { media_ids, social_account_ids: [instagram] }
    expect((await preview(body)).valid).toBe(status === 200)
    const { body: post } = await ask('POST', '/v1/posts', { ...plain, ...body })
    const at = { scheduled_at: '2030-02-01T00:00:00Z' }
    expect((await ask('POST', `/v1/posts/${post.id}/schedule`, at)).status).toBe(status)
  }
})

test('refuses a body that creation refuses', async () => {
  for (const body of [{}, { ...plain, title: '' }, { ...plain, tags: null }, { ...plain, media_ids: ['x'] }]) {
    const [here, there] = [await ask('POST', '/v1/posts/preview', body), await ask('POST', '/v1/posts', body)]
    expect([here.status, here.body]).toEqual([422, there.body])
  }
})

test('writes nothing, under an Idempotency-Key either', async () => {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const count = () =>
    stores.pg.query(
      `SELECT (SELECT count(*) FROM posts) AS posts, (SELECT count(*) FROM post_targets) AS targets,
         (SELECT count(*) FROM audit_events) AS audits, (SELECT count(*) FROM outbox) AS told,
         (SELECT count(*) FROM idempotency_records) AS records`,
    )
  const before = await count()
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'k' }
  for (const title of ['A', 'B']) {
    const body = JSON.stringify({ ...plain, title, social_account_ids: [account] })
    const response = await api.ask('/v1/posts/preview', { method: 'POST', key: mine.apiKey, headers, body })
    expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([200, null])
  }
  expect(await count()).toEqual(before)
})
