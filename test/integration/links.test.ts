import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { insertLink } from '../../postgres/tables/links/links.ts'
import { linksListedMax } from '../../schemas/limits/api-limits.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { asking, makeAccount, makePost, newLink } from '../support/publishing.ts'
import { seed } from '../support/short-form.ts'

interface Link extends Record<string, unknown> {
  id: number
  attribution_key: string
  tracking_url: string
}

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)

const target = { device: 'ios', destination_url: 'https://example.com/app' }
const valid = { label: 'Spring sale', destination_url: 'https://example.com/sale?x=1#top' }
async function create(body: unknown, key = mine.apiKey, headers: Record<string, string> = {}) {
  const init = { method: 'POST', key, body: JSON.stringify(body), headers }
  const response = await api.ask('/v1/links', { ...init, headers: { 'Content-Type': 'application/json', ...headers } })
  return { status: response.status, body: (await response.json()) as Link & { detail: unknown } }
}
async function list(query = '', key = mine.apiKey): Promise<Link[]> {
  return (await (await api.ask(`/v1/links${query}`, { key })).json()) as Link[]
}
const change = (id: number | string, body: object) => ask('PATCH', `/v1/links/${id}`, body)
const locsOf = ({ detail }: { detail: { loc: unknown }[] }) => detail.map(({ loc }) => loc)
const makeMany = (links: unknown) => ask('POST', '/v1/links/bulk', { links })
const lastDays = () =>
  Array.from({ length: 30 }, (_, at) => ({
    day: new Date(Date.now() - (29 - at) * 86_400_000).toISOString().slice(0, 10),
    clicks: 0,
  }))

describe('POST /v1/links', () => {
  test('makes a link with the defaults of the contract, and its URLs, and tells webhooks of it', async () => {
    const { status, body } = await create(valid)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...valid,
      id: expect.any(Number),
      object_id: `link_${body.id}`,
      attribution_key: expect.stringMatching(/^[0-9A-Za-z]{8}$/),
      tracking_url: `https://example.com/sale?x=1&utm_source=svc&utm_medium=social&svc_link_id=${body.id}#top`,
      domain: null,
      post_url: `${testApiHost}/l/${body.attribution_key}`,
      post_id: null,
      social_account_id: null,
      utm_source: 'svc',
      utm_medium: 'social',
      utm_campaign: '',
      utm_content: '',
      expires_at: null,
      expired_url: null,
      targets: [],
      tags: [],
      has_password: false,
      preview: null,
      tracking_params: { utm_source: 'svc', utm_medium: 'social', svc_link_id: String(body.id) },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body['created_at'],
    })
    const [told] = await stores.pg.query('SELECT type, object FROM outbox WHERE workspace_id = $1', [mine.workspaceId])
    expect(told).toEqual({ type: 'link.created', object: body })
  })

  test('names the post and the account, as an object id, digits or a number', async () => {
    const [post, account] = [await makePost(stores, mine.workspaceId), await makeAccount(stores, mine.workspaceId, 'x')]
    const named = { post_id: `post_${post}`, social_account_id: String(account) }
    expect((await create({ ...valid, ...named })).body).toMatchObject({ post_id: post, social_account_id: account })
    const { body } = await create({ ...valid, post_id: post, utm_content: 'a b' })
    const params = `utm_source=svc&utm_medium=social&utm_content=a%20b&svc_link_id=${body.id}&svc_post_id=${post}`
    expect(body.tracking_url).toBe(`https://example.com/sale?x=1&${params}#top`)
  })

  test('a chosen key is the end of the short URL, and its case counts; one that is taken, reserved or no key is 422', async () => {
    const { body } = await create({ ...valid, key: 'Spring_sale-26' })
    expect([body.attribution_key, body.post_url]).toEqual(['Spring_sale-26', `${testApiHost}/l/Spring_sale-26`])
    expect((await create({ ...valid, key: 'spring_sale-26' })).status).toBe(200)
    const other = await makeWorkspace(stores)
    for (const [key, text] of [
      ['Spring_sale-26', 'The key is taken by another link'],
      ['DOCS', 'The key is reserved'],
      ...['', '-a', 'a_', 'a b', 'ä', 'a.b', 'a/b', 'a'.repeat(51)].map((key) => [key, 'A key has up to 50 letters']),
    ] as const) {
      const { status, body } = await create({ ...valid, key }, other.apiKey)
      expect([key, status, body.detail]).toEqual([
        key,
        422,
        [expect.objectContaining({ loc: ['body', 'key'], msg: expect.stringContaining(text!) })],
      ])
    }
    for (const key of ['a', 'a'.repeat(50)]) expect((await create({ ...valid, key })).status).toBe(200)
    const bulk = await makeMany([valid, { ...valid, key: 'twice' }, { ...valid, key: 'twice' }])
    expect(bulk).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'links', 2, 'key'] }] } })
  })

  test('what only the workspace can tell is told in the order of the fields, link by link', async () => {
    await create({ ...valid, key: 'taken' })
    const wrong = { ...valid, key: 'taken', expires_at: '2020-01-01', social_account_id: 1, post_id: 1 }
    const places = [['post_id'], ['social_account_id'], ['expires_at'], ['key']]
    const { body } = await create(wrong)
    const faults = body.detail as { loc: unknown[]; msg: string }[]
    expect(faults.map(({ loc }) => loc.slice(1))).toEqual(places)
    expect(faults.slice(0, 2).map(({ msg }) => msg)).toEqual([
      'Value error, Post not found',
      'Value error, Social account not found',
    ])
    const bulk = await makeMany([wrong, { ...valid, key: 'taken' }])
    const locs = (bulk.body as unknown as { detail: { loc: unknown[] }[] }).detail.map(({ loc }) => loc.slice(2))
    expect(locs).toEqual([...places.map((place) => [0, ...place]), [1, 'key']])
  })

  const longest = { label: '🙂'.repeat(160), destination_url: `https://example.com/${'ü'.repeat(2028)}` }
  test('bounds are those of the contract, in code points', async () => {
    const utm = { utm_source: '', utm_medium: 'é'.repeat(120), utm_campaign: '🙂'.repeat(120), utm_content: 'x' }
    expect((await create({ ...longest, ...utm })).status).toBe(200)
    expect((await create({ label: 'a', destination_url: 'http://a' })).status).toBe(200)
  })

  test('a text, a time, a tag or a target that no link can have is 422 at its field, and makes nothing', async () => {
    for (const [given, type] of [
      [{ label: `${longest.label}a` }, 'string_too_long'],
      [{ destination_url: `${longest.destination_url}a` }, 'string_too_long'],
      [{ destination_url: 'ftp://example.com' }, 'value_error'],
      [{ destination_url: 'https://me:secret@example.com' }, 'value_error'],
      [{ expires_at: '2020-01-01' }, 'value_error'],
      [{ expired_url: 'https://example.com' }, 'value_error'],
      [{ expired_url: 'javascript:alert(1)' }, 'value_error'],
      [{ tags: Array.from({ length: 11 }, (_, n) => `t${n}`) }, 'too_long'],
      [{ tags: Array(301).fill('a') }, 'too_long'],
      [{ tags: ['ok', '##'] }, 'string_too_short'],
      [{ tags: ['a'.repeat(51)] }, 'string_too_long'],
      [{ targets: Array(11).fill(target) }, 'too_long'],
      [{ targets: [{ ...target, destination_url: 'ftp://example.com' }] }, 'value_error'],
      [{ targets: [{ ...target, countries: ['EU'] }] }, 'value_error'],
      [{ targets: [{ countries: [], destination_url: target.destination_url }] }, 'value_error'],
      [{ targets: [{ ...target, share: 0 }] }, 'greater_than_equal'],
      [{ targets: [{ ...target, share: 100 }] }, 'less_than_equal'],
      [{ targets: [{ ...target, share: 33.3 }] }, 'int_from_float'],
      [{ targets: [{ ...target, share: null }] }, 'int_type'],
    ] as const) {
      const { status, body } = await create({ ...valid, ...given })
      const loc = expect.arrayContaining(['body', Object.keys(given)[0]])
      expect([given, status, body.detail]).toMatchObject([given, 422, [{ type, loc }]])
    }
    expect(await list()).toEqual([])
  })

  test('shares of the same visitors come to 99 at most, and are shown as they were sent', async () => {
    const destination_url = 'https://example.com/half'
    const half = (share: number, countries: string[]) => ({ share, countries, destination_url })
    const refused = await create({ ...valid, targets: [half(50, ['DE', 'AT']), target, half(50, ['at', 'de'])] })
    expect(refused.body.detail).toMatchObject([
      {
        loc: ['body', 'targets', 2, 'share'],
        msg: 'Value error, Shares of targets with the same device and countries come to 99 at most: the rest goes on to the next target or the link’s destination',
      },
    ])
    const targets = [
      half(50, ['DE', 'AT']),
      half(49, ['AT', 'DE']),
      { ...target, share: 99 },
      { share: 99, destination_url },
    ]
    expect(await create({ ...valid, targets })).toMatchObject({ status: 200, body: { targets } })
  })

  test('takes another key where one is taken, and gives up only after some', async () => {
    const taken = (await create(valid)).body.attribution_key
    const made = { ...newLink, workspaceId: mine.workspaceId }
    const keys = [taken, taken, '0000000a']
    expect(await insertLink(stores.pg, made, () => keys.shift()!)).toMatchObject({ attribution_key: '0000000a' })
    await expect(insertLink(stores.pg, made, () => taken)).rejects.toThrow('taken')
  })
})

describe('GET /v1/links', () => {
  test(`without a limit it has all of them up to ${linksListedMax}`, async () => {
    await stores.pg.query(
      `INSERT INTO links (workspace_id, attribution_key, label, destination_url, tracking_url, tracking_params, utm_source,
         utm_medium, utm_campaign, utm_content)
       SELECT $1, 'many' || lpad(n::text, 4, '0'), 'a', 'https://a.example', 'https://a.example/', '{}', '', '', '', ''
       FROM generate_series(0, $2) n`,
      [mine.workspaceId, linksListedMax],
    )
    const all = await list()
    expect(all).toHaveLength(linksListedMax)
    expect(await list(`?before_id=${all.at(-1)!.id}`)).toHaveLength(1)
  })
})

describe('GET /v1/links/{link_id}', () => {
  const noRevenue = { payments: 0, revenue_cents: 0, revenue_by_currency: {} }
  const noVisits = { visitors: 0, sessions: 0, conversions: 0, pages: [] }
  const none = { clicks: 0, total: 0, visitors: 0, bots: 0, previews: 0, prefetches: 0, heads: 0 }
  const noClicks = { ...none, last_clicked_at: null }

  test('is the link with its clicks, by its id or its object id', async () => {
    const { body } = await create(valid)
    for (const id of [body.id, `link_${body.id}`]) {
      const before = lastDays()
      const response = await api.ask(`/v1/links/${id}`, { key: mine.apiKey })
      const { click_lists, ...shown } = (await response.json()) as {
        click_lists: { days: { day: string; clicks: number }[] }
      }
      expect(shown).toEqual({ ...body, click_counts: noClicks, visits: noVisits, revenue: noRevenue })
      expect(click_lists).toMatchObject({ countries: [], referrers: [], devices: [], ways: [] })
      // Two where a day ended meanwhile.
      expect([before, lastDays()]).toContainEqual(click_lists.days)
    }
  })

  test('clicks count once for a visitor and an hour; what isn’t a person’s is apart', async () => {
    const { id } = (await create(valid)).body
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 2 * 3_600_000
    const rows: (readonly [kind: string, visitor: number, at: number])[] = [
      ...[hour + 1, hour + 2, hour + 3_599_999, hour + 3_600_000].map((at) => ['click', 7, at] as const),
      ...[hour + 5, hour + 6].map((at) => ['click', 8, at] as const),
      ...['head', 'prefetch'].map((kind) => [kind, 7, hour] as const),
      ...['preview', 'bot', 'bot'].map((kind) => [kind, 0, hour] as const),
      // Beyond what the plan can read.
      ['click', 9, hour - 200 * 86_400_000],
    ]
    const values = rows.map(([kind, visitor, at]) => {
      const from = visitor === 8 ? `'DE', 'https://news.example/launch?id=1'` : `'', ''`
      return `(${mine.workspaceId}, ${id}, '${kind}', ${visitor}, fromUnixTimestamp64Milli(${at}), ${from})`
    })
    const columns = 'workspace_id, link_id, kind, visitor, occurred_at, country, referrer'
    await stores.ch.command(`INSERT INTO link_clicks (${columns}) VALUES ${values.join()}`)
    await create(valid)
    expect((await list('?include=clicks')).map((link) => link['clicks'])).toEqual([0, 3])
    expect((await list())[1]).not.toHaveProperty('clicks')
    const response = await api.ask(`/v1/links/${id}`, { key: mine.apiKey })
    const link = (await response.json()) as { click_lists: { days: { clicks: number }[] } }
    expect(link.click_lists.days.reduce((sum, { clicks }) => sum + clicks, 0)).toBe(3)
    const [two, one] = [{ clicks: 2 }, { clicks: 1 }]
    expect(link.click_lists).toMatchObject({
      countries: [
        { country: '', ...two },
        { country: 'DE', ...one },
      ],
      referrers: [
        { host: '', ...two },
        { host: 'news.example', ...one },
      ],
    })
    expect(link).toMatchObject({
      click_counts: {
        clicks: 3,
        total: 6,
        visitors: 2,
        bots: 2,
        previews: 1,
        prefetches: 1,
        heads: 1,
        last_clicked_at: new Date(hour + 3_600_000).toISOString(),
      },
    })
  })

  test('each of its lists adds up to its clicks, also where a day begins within an hour', async () => {
    const workspace = await makeWorkspace(stores, { timezone: 'Asia/Kolkata' })
    const { id } = (await create(valid, workspace.apiKey)).body
    const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000 - 5.5 * 3_600_000
    const values = [
      [midnight - 60_000, 'DE', 'https://News.example/a', ''],
      [midnight + 60_000, 'AT', 'http://localhost:3000/', 'https://example.com/app'],
      [midnight + 3_600_000, 'AT', 'http://localhost:3000/', 'https://example.com/app'],
    ].map(
      ([at, ...from]) =>
        `(${workspace.workspaceId}, ${id}, 'click', 7, fromUnixTimestamp64Milli(${at}), '${from.join("','")}')`,
    )
    const columns = 'workspace_id, link_id, kind, visitor, occurred_at, country, referrer, target_url'
    await stores.ch.command(`INSERT INTO link_clicks (${columns}) VALUES ${values.join()}`)
    const response = await api.ask(`/v1/links/${id}`, { key: workspace.apiKey })
    const link = (await response.json()) as { click_counts: unknown; click_lists: { days: { clicks: number }[] } }
    const { days, ...others } = link.click_lists
    expect(link.click_counts).toMatchObject({ clicks: 2, total: 3 })
    expect(days.filter(({ clicks }) => clicks > 0)).toMatchObject([{ clicks: 1 }, { clicks: 1 }])
    expect(others).toEqual({
      countries: [
        { country: 'AT', clicks: 1 },
        { country: 'DE', clicks: 1 },
      ],
      referrers: [
        { host: 'localhost', clicks: 1 },
        { host: 'news.example', clicks: 1 },
      ],
      targets: [
        { destination_url: null, clicks: 1 },
        { destination_url: 'https://example.com/app', clicks: 1 },
      ],
      // Rows of before columns were added, or without a user agent.
      devices: [{ device: '', clicks: 2 }],
      browsers: [{ browser: '', clicks: 2 }],
      systems: [{ system: '', clicks: 2 }],
      cities: [{ city: '', label: '', clicks: 2 }],
      ways: [{ way: 'link', clicks: 2 }],
    })
  })
})

test('the overview’s link_clicks are those of the range and the one before, to the millisecond', async () => {
  const minute = 60_000
  const hour = 60 * minute
  const now = Math.floor(Date.now() / hour) * hour
  const click = fc.record({
    kind: fc.constantFrom('click', 'click', 'click', 'bot', 'head'),
    link: fc.integer({ min: 1, max: 2 }),
    visitor: fc.integer({ min: 1, max: 2 }),
    // Often at the very edges of hours.
    at: fc.tuple(fc.integer({ min: -12, max: -1 }), fc.constantFrom(0, 1, 30 * minute, 30 * minute - 1, hour - 1)),
  })
  const asked = fc.record({
    clicks: fc.array(click, { maxLength: 40 }),
    start: fc.integer({ min: -11, max: -2 }),
    halves: fc.integer({ min: 1, max: 8 }),
  })
  const cases = await Promise.all(
    fc.sample(asked, { seed, numRuns: 50 }).map(async ({ clicks, ...range }) => {
      const rows = clicks.map(({ at: [hours, more], ...rest }) => ({ ...rest, at: now + hours * hour + more }))
      return { ...range, rows, ...(await makeWorkspace(stores)) }
    }),
  )
  const values = cases.flatMap(({ rows, workspaceId }) =>
    rows.map(
      ({ kind, link, visitor, at }) =>
        `(${workspaceId}, ${link}, '${kind}', ${visitor}, fromUnixTimestamp64Milli(${at}))`,
    ),
  )
  const columns = 'workspace_id, link_id, kind, visitor, occurred_at'
  await stores.ch.command(`INSERT INTO link_clicks (${columns}) VALUES ${values.join()}`)
  const judge = async ({ rows, start, halves, apiKey }: (typeof cases)[number]) => {
    const [from, length] = [now + start * hour, halves * 30 * minute]
    const countIn = (begin: number) =>
      new Set(
        rows
          .filter(({ kind, at }) => kind === 'click' && at >= begin && at < begin + length)
          .map(({ link, visitor, at }) => `${link} ${visitor} ${Math.floor(at / hour)}`),
      ).size
    const query = `start=${new Date(from).toISOString()}&end=${new Date(from + length).toISOString()}`
    const response = await api.ask(`/v1/analytics/overview?${query}&include=metrics`, { key: apiKey })
    const { metrics } = (await response.json()) as { metrics: Record<string, unknown> }
    expect(metrics, `SEED=${seed}: ${JSON.stringify([start, halves, rows])}`).toMatchObject({
      link_clicks: countIn(from),
      previous: { link_clicks: countIn(from - length) },
      visitors: 0,
      events: 0,
    })
  }
  for (let at = 0; at < cases.length; at += 5) await Promise.all(cases.slice(at, at + 5).map(judge))
})

test('a search finds text in labels, keys and destinations, whatever its case, and marks stand for themselves', async () => {
  await create({ ...valid, label: '50% off', destination_url: 'https://example.com/a_b', key: 'Search-1' })
  await create({ ...valid, label: 'Other', destination_url: 'https://example.com/off', key: 'Search-2' })
  const found = async (q: string) =>
    (await list(`?${new URLSearchParams({ q })}`)).map((link) => link['attribution_key'])
  expect(await found('OFF')).toEqual(['Search-2', 'Search-1'])
  expect(await found('search-1')).toEqual(['Search-1'])
  expect([await found('0%'), await found('a_b'), await found('axb')]).toEqual([['Search-1'], ['Search-1'], []])
  expect((await api.ask(`/v1/links?q=${'a'.repeat(201)}`, { key: mine.apiKey })).status).toBe(422)
})

test('a link is changed where it is named, keeps its short URL, and ends when it is said, or at once', async () => {
  await stores.pg.query(`UPDATE workspaces SET timezone = 'Asia/Kolkata' WHERE id = $1`, [mine.workspaceId])
  const ends = { expires_at: '2100-01-01T05:30', expired_url: 'https://example.com/over' }
  const { body: made } = await create({ ...valid, ...ends })
  expect(made).toMatchObject({ ...ends, expires_at: '2100-01-01T00:00:00.000Z' })
  const fields = { label: 'Autumn', destination_url: 'https://example.com/autumn', utm_medium: '', utm_content: 'x' }
  const { body: changed } = await change(`link_${made.id}`, fields)
  expect(changed).toEqual({
    ...made,
    ...fields,
    updated_at: expect.any(String),
    tracking_url: `https://example.com/autumn?utm_source=svc&utm_content=x&svc_link_id=${made.id}`,
    tracking_params: { utm_source: 'svc', utm_content: 'x', svc_link_id: String(made.id) },
  })
  expect((await change(made.id, {})).body).toEqual(changed)
  expect((await change(made.id, { expires_at: '2020-01-01T00:00:00Z' })).body).toMatchObject({
    expires_at: '2020-01-01T00:00:00.000Z',
    expired_url: ends.expired_url,
  })
  expect((await change(made.id, { expired_url: null })).body['expired_url']).toBeNull()
  await change(made.id, { expired_url: ends.expired_url })
  const { body: lasting } = await change(made.id, { expires_at: null })
  expect(lasting).toMatchObject({ expires_at: null, expired_url: null })
  for (const [wrong, ...field] of [
    [{ expired_url: ends.expired_url }, 'expired_url'],
    [{ ...ends, expires_at: null }, 'expired_url'],
    [{ expires_at: '2100-01-01', expired_url: 'ftp://example.com' }, 'expired_url'],
    [{ destination_url: 'ftp://example.com' }, 'destination_url'],
    [{ destination_url: made.post_url }, 'destination_url'],
    [{ ...ends, expired_url: `${made.post_url}?a` }, 'expired_url'],
    [{ targets: [target, { ...target, destination_url: made.post_url }] }, 'targets', 1, 'destination_url'],
    [{ label: null }, 'label'],
    [{ post_id: 1 }, 'post_id'],
  ] as const) {
    const refused = await change(made.id, wrong)
    expect([refused.status, locsOf(refused.body)]).toEqual([422, [['body', ...field]]])
  }
  const targets = [{ countries: ['DE', 'AT'], destination_url: 'https://example.com/de' }, target]
  const sent = [{ ...targets[0], countries: ['de', 'AT', 'DE'] }, target]
  expect((await change(made.id, { targets: sent })).body).toMatchObject({ targets })
  expect((await change(made.id, { label: 'Autumn' })).body).toMatchObject({ targets })
  expect((await change(made.id, { targets: null })).body).toEqual({ ...lasting, updated_at: expect.any(String) })
  expect(await list()).toEqual([{ ...lasting, updated_at: expect.any(String) }])
})

test('links are found by a tag, as it is written or with a sign in front, also among archived ones and page by page', async () => {
  const made: Link[] = []
  for (const tags of [['#spring', 'a,b', ...Array(11).fill('spring')], ['Spring'], undefined, ['spring'], null])
    made.push((await create({ ...valid, tags })).body)
  expect(made.map(({ tags }) => tags)).toEqual([['spring', 'a,b'], ['Spring'], [], ['spring'], []])
  const idsOf = async (query: string) => (await list(query)).map(({ id }) => id)
  const [first, , , last] = made.map(({ id }) => id)
  expect(await idsOf('?tag=spring')).toEqual([last, first])
  expect(await idsOf(`?tag=%23spring&limit=1&before_id=${last}`)).toEqual([first])
  expect([await idsOf('?tag=a,b'), await idsOf('?tag=spr')]).toEqual([[first], []])
  await ask('POST', `/v1/links/${first}/archive`)
  expect([await idsOf('?tag=spring'), await idsOf('?tag=spring&status=archived')]).toEqual([[last], [first]])
  for (const tags of [['new'], null]) {
    for (const fields of [{ tags }, {}]) await change(last!, fields)
    expect((await list('?limit=2'))[1]!['tags']).toEqual(tags ?? [])
  }
  expect((await api.ask('/v1/links?tag=', { key: mine.apiKey })).status).toBe(422)
})

test('many links are made in their order, told one by one and audited together; with a fault none is', async () => {
  const post = await makePost(stores, mine.workspaceId)
  const sent = [valid, { ...valid, label: 'b', post_id: post }, { ...valid, label: 'c', password: 'x', tags: ['#a'] }]
  const { status, body } = await ask<{ links: Link[]; link_ids: number[] }>('POST', '/v1/links/bulk', { links: sent })
  expect([status, body.links.map(({ label }) => label)]).toEqual([200, ['Spring sale', 'b', 'c']])
  expect(body.links.slice(1)).toMatchObject([{ post_id: post }, { has_password: true, tags: ['a'] }])
  expect(body.link_ids).toEqual(body.links.map(({ id }) => id))
  expect(await list()).toEqual(body.links.toReversed())
  const told = await stores.pg.query('SELECT type, object FROM outbox WHERE workspace_id = $1 ORDER BY id', [
    mine.workspaceId,
  ])
  expect(told).toEqual(body.links.map((object) => ({ type: 'link.created', object })))
  const audited = await stores.pg.query(
    `SELECT metadata->'link_ids' AS ids FROM audit_events WHERE workspace_id = $1 AND action = 'link.bulk_create'`,
    [mine.workspaceId],
  )
  expect(audited).toEqual([{ ids: body.link_ids }])

  const at = (place: number, field: string) => ['body', 'links', place, field]
  const unfit = [valid, { ...valid, label: '' }, { ...valid, destination_url: 'ftp://example.com' }]
  const late = [{ ...valid, post_id: 2 ** 40 }, valid, { ...valid, expires_at: '2020-01-01' }]
  for (const [wrong, locs] of [
    [unfit, [at(1, 'label'), at(2, 'destination_url')]],
    [late, [at(0, 'post_id'), at(2, 'expires_at')]],
    [[], [['body', 'links']]],
    [Array(101).fill(valid), [['body', 'links']]],
    [Array.from({ length: 6 }, (_, at) => ({ ...valid, password: `p${at}` })), [['body', 'links']]],
  ] as const) {
    const refused = await makeMany(wrong)
    expect([refused.status, locsOf(refused.body)]).toEqual([422, locs])
  }
  expect(await list()).toHaveLength(3)
})

test('a password is taken and never given back: answers, webhooks and records say only that there is one', async () => {
  const hashOf = async (id: number) =>
    (await stores.pg.query<{ hash: string | null }>('SELECT password_hash AS hash FROM links WHERE id = $1', [id]))[0]!
      .hash
  const secret = 'sesame-öffne'
  const sent = { ...valid, password: secret }
  const { body: made } = await create(sent, mine.apiKey, { 'Idempotency-Key': 'one' })
  expect(made['has_password']).toBe(true)
  expect(await hashOf(made.id)).toMatch(/^\$argon2id\$/)
  expect((await create(sent, mine.apiKey, { 'Idempotency-Key': 'one' })).body).toEqual(made)
  expect((await create({ ...sent, password: 'b' }, mine.apiKey, { 'Idempotency-Key': 'one' })).status).toBe(409)
  const stored = await stores.pg.query(
    'SELECT to_jsonb(l)::text AS link, to_jsonb(o)::text AS told FROM links l JOIN outbox o USING (workspace_id) WHERE l.id = $1',
    [made.id],
  )
  expect(JSON.stringify([made, await list(), stored])).not.toContain('sesame')

  const first = await hashOf(made.id)
  expect((await change(made.id, { label: 'Autumn' })).body['has_password']).toBe(true)
  expect(await hashOf(made.id)).toBe(first)
  const again = (await change(made.id, { password: secret })).body
  expect(again['has_password']).toBe(true)
  // Salted anew, so that ingest reads the change.
  expect(await hashOf(made.id)).not.toBe(first)
  const { body: opened } = await change(made.id, { password: null })
  expect([opened['has_password'], await hashOf(made.id)]).toEqual([false, null])
  expect((await change(made.id, { password: null })).body).toEqual(opened)
  for (const wrong of ['', 'a'.repeat(129), 'a\tb', 1]) {
    expect([
      (await create({ ...valid, password: wrong })).status,
      (await change(made.id, { password: wrong })).status,
    ]).toEqual([422, 422])
  }
})

test('an archived link is left out of the list, stands in that of archived ones, and comes back; once more changes nothing', async () => {
  const archive = async (id: number | string, verb = 'archive') =>
    (await ask<Link>('POST', `/v1/links/${id}/${verb}`)).body
  const [made, kept] = [(await create(valid)).body, (await create(valid)).body]
  const archived = await archive(`link_${made.id}`)
  expect(archived).toEqual({ ...made, updated_at: expect.any(String) })
  expect((await list()).map(({ id }) => id)).toEqual([kept.id])
  expect(await list('?status=archived')).toEqual([archived])
  expect(await archive(made.id)).toEqual(archived)
  expect((await api.ask(`/v1/links/${made.id}`, { key: mine.apiKey })).status).toBe(200)
  expect(await archive(made.id, 'unarchive')).toEqual({ ...made, updated_at: expect.any(String) })
  expect((await list()).map(({ id }) => id)).toEqual([kept.id, made.id])
  expect(await list('?status=archived')).toEqual([])
  expect((await api.ask('/v1/links?status=gone', { key: mine.apiKey })).status).toBe(422)
})

test('a preview is taken with its defaults, replaced as a whole, cleared by null, and bounded', async () => {
  const { body: made } = await create({ ...valid, preview: { title: 'Sale' } })
  expect(made['preview']).toEqual({ title: 'Sale', description: '', image_url: null })
  expect((await change(made.id, { label: 'b' })).body['preview']).toEqual(made['preview'])
  const other = { title: 'S', description: 'Today', image_url: 'https://cdn.example/a.png' }
  expect((await change(made.id, { preview: other })).body['preview']).toEqual(other)
  expect((await list())[0]!['preview']).toEqual(other)
  expect((await change(made.id, { preview: null })).body['preview']).toBeNull()
  const title = 'S'
  for (const wrong of [
    {},
    ...['', ' ', 'a\nb', 'a'.repeat(201)].map((one) => ({ title: one })),
    { title, other: 1 },
    'S',
    { title, description: 'a'.repeat(501) },
    ...['http://a.de/b.png', 'https://u:p@a.de/b.png', `https://a.de/${'b'.repeat(2048)}`].map((image_url) => ({
      title,
      image_url,
    })),
  ]) {
    const statuses = [
      (await create({ ...valid, preview: wrong })).status,
      (await change(made.id, { preview: wrong })).status,
    ]
    expect([wrong, statuses]).toEqual([wrong, [422, 422]])
  }
})
