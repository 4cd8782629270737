/** Refusals of input that a lenient reader might let through, and the one id that may be written two ways. */
import { describe, expect, test } from 'vitest'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { makers } from '../support/api-requests.ts'
import { asking, type Fault, makeAccount, makeMedia, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const places = (detail: Fault[]) => detail.map(({ loc, type }) => [loc, type])

describe('an object id', () => {
  test('names media and accounts in bodies', async () => {
    const [media, account] = [
      await makeMedia(stores, mine.workspaceId),
      await makeAccount(stores, mine.workspaceId, 'x'),
    ]
    const named = { media_ids: [`media_${media}`], social_account_ids: [`social_account_${account}`] }
    const post = await ask<ShownPost>('POST', '/v1/posts', { title: 'A', base_caption: 'a', ...named })
    expect(post).toMatchObject({ status: 200, body: { media_ids: [media], targets: [{ social_account_id: account }] } })
  })

  test('of another type is no id', async () => {
    const body = { label: 'A', destination_url: 'https://example.com', post_id: 'media_1', social_account_id: 'x_1' }
    const { status, body: answer } = await ask('POST', '/v1/links', body)
    expect([status, places(answer.detail)]).toEqual([
      422,
      [
        [['body', 'post_id'], 'int_parsing'],
        [['body', 'social_account_id'], 'int_parsing'],
      ],
    ])
  })

  test.each([
    ['/v1/posts', 'post', 'post_id'],
    ['/v1/links', 'link', 'link_id'],
    ['/v1/media', 'media', 'media_id'],
    ['/v1/webhooks', 'webhook_endpoint', 'webhook_id'],
    ['/v1/webhooks/deliveries', 'webhook_delivery', 'delivery_id'],
    ['/v1/audit-log', 'audit_event', 'post_id'],
  ])(
    'pages through %s, which is newest first, as a number does, and no other workspace has its rows',
    async (path, type, made) => {
      const asker = { api, stores, workspaceId: mine.workspaceId, key: mine.apiKey }
      for (let n = 0; n < 4; n++) await makers[made]!(asker)
      const idsOf = async (query: string) =>
        (await ask<{ id: number }[]>('GET', `${path}?${query}`)).body.map(({ id }) => id)
      const all = await idsOf('')
      expect(all.length).toBeGreaterThan(3)
      expect(all).toEqual([...all].sort((one, other) => other - one))
      expect(await idsOf('limit=2')).toEqual(all.slice(0, 2))
      for (const id of [all[1], `${type}_${all[1]}`]) {
        expect(await idsOf(`limit=2&before_id=${id}`)).toEqual(all.slice(2, 4))
      }
      const other = await ask('GET', `${path}?before_id=thing_5`)
      expect([other.status, places(other.body.detail)]).toEqual([422, [[['query', 'before_id'], 'int_parsing']]])
      const others = await makeWorkspace(stores)
      expect((await asking(api, () => others.apiKey)('GET', path)).body).toEqual([])
    },
  )
})

test.each(['overview', 'bots'])('a range that would begin before the year 1 is refused by %s', async (figures) => {
  const { status, body } = await ask('GET', `/v1/analytics/${figures}?end=0001-01-01`)
  expect([status, places(body.detail)]).toEqual([422, [[['query', 'start'], 'value_error']]])
})

test('a caption for a platform that is called __proto__ is for none that there is', async () => {
  const captions = JSON.parse('{"__proto__": "a"}') as object
  for (const name of ['__proto__', 'constructor']) {
    const sent = name === '__proto__' ? captions : { [name]: 'a' }
    const body = { title: 'A', base_caption: 'a', platform_captions: sent }
    const created = await ask('POST', '/v1/posts', body)
    const expected = { loc: ['body', 'platform_captions', name], input: 'a', ctx: { code: 'platform_not_chosen' } }
    expect([created.status, created.body.detail]).toMatchObject([422, [expected]])
  }
  const { body } = await ask<ShownPost>('POST', '/v1/posts', { title: 'A', base_caption: 'a' })
  expect((await ask('PATCH', `/v1/posts/${body.id}`, { platform_captions: captions })).status).toBe(422)
})

test('a webhook goes to a public host alone, however URLs spell another one', async () => {
  const statusOf = async (host: string) => {
    const { status, body } = await ask('POST', '/v1/webhooks', { url: `https://${host}:8443/hook` })
    return [host, status, status === 422 ? places(body.detail) : []]
  }
  // The others among the addresses: test/unit/public-address.test.ts.
  const addresses = ['127.0.0.1', '127.1', '0x7f000001', '2130706433', '017700000001', '[::1]', '[::ffff:127.0.0.1]']
  const here = ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'localhost.localdomain', 'printer', 'metadata']
  const near = ['printer.local', 'metadata.google.internal', 'instance-data.ec2.internal', 'router.home.arpa']
  for (const host of [...addresses, ...here, ...near]) {
    expect(await statusOf(host)).toEqual([host, 422, [[['body', 'url'], 'value_error']]])
  }
  const open = ['hooks.example.com', '8.8.8.8', '[2606:4700::1111]', 'internal.example.com', 'localhost.example.com']
  for (const host of open) expect(await statusOf(host)).toEqual([host, 200, []])
})

describe('a 422 shows at most a kilobyte of what was sent', () => {
  const long = 'é'.repeat(200_000)
  test.each([
    ['a text', { label: long, destination_url: 'https://example.com' }, ['body', 'label']],
    ['the object that lacks a field', { more: long, label: 'a' }, ['body', 'destination_url']],
    ['a name', { label: 'a', destination_url: 'https://example.com', [long]: long }, ['body', 'é'.repeat(512)]],
    ['a list', { label: Array(100_000).fill('é'), destination_url: 'https://example.com' }, ['body', 'label']],
  ])('%s', async (_, body, loc) => {
    const { status, body: answer } = await ask('POST', '/v1/links', body)
    expect([status, (answer.detail as Fault[]).some((fault) => fault.loc.join() === loc.join())]).toEqual([422, true])
    expect(JSON.stringify(answer).length).toBeLessThan(4_000)
  })

  test('cut between characters, and whole where it is short', async () => {
    const shown = async (label: unknown) =>
      (await ask('POST', '/v1/links', { label, destination_url: 'https://example.com' })).body.detail[0].input
    expect(await shown(`a${long}`)).toBe(`a${'é'.repeat(511)}`)
    expect(await shown(['a', { b: 1 }])).toEqual(['a', { b: 1 }])
  })
})
