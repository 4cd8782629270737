/** The tracking pixel of a running ingest: what it stores, and that it shows an image whatever becomes of the event. */
import { expect, test } from 'vitest'
import { pixelQueryBytesMax } from '../../schemas/limits/event-limits.ts'
import { setUpIngest } from '../support/ingest.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const ingest = setUpIngest(stores, { TRUSTED_PROXIES: '127.0.0.1' })

const visitor = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'X-Forwarded-For': '192.0.2.1',
}
const page = 'https://example.com/news?utm_source=letter&utm_medium=email&utm_campaign=may'

/** Asks for the pixel, and checks that the answer is the image. */
async function show(query: Record<string, string>, headers = {}, method = 'GET'): Promise<void> {
  const search = new URLSearchParams({ tracking_key: ingest.key, ...query })
  const answer = await fetch(`${ingest.url}/pixel?${search}`, { method, headers: { ...visitor, ...headers } })
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect([answer.status, bytes.subarray(0, 6).toString(), bytes.length]).toEqual(
    method === 'HEAD' ? [200, '', 0] : [200, 'GIF89a', 43],
  )
  const shown = ['content-type', 'content-length', 'cache-control', 'set-cookie', 'cross-origin-resource-policy']
  expect(shown.map((name) => answer.headers.get(name))).toEqual(['image/gif', '43', 'no-store', null, 'cross-origin'])
}

/** Events by name, without the columns that no two events share. */
async function stored(name: string): Promise<Record<string, unknown>[]> {
  await ingest.shipped()
  const own = ['id', 'occurred_at', 'received_at', 'client_event_id']
  const rows = await stores.ch.query<Record<string, unknown>>(
    `SELECT * FROM events WHERE event_name = '${name}' ORDER BY id`,
  )
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !own.includes(column))))
}

/** By reason; `accepted` and `repeats` beside them. */
async function counts(): Promise<Record<string, number>> {
  const text = await ingest.metrics()
  const countOf = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0)
  return {
    accepted: countOf(/^ingest_events_accepted_total.* (\d+)$/m),
    repeats: countOf(/^ingest_events_deduplicated_total.* (\d+)$/m),
    ...(await ingest.counted('ingest_events_refused_total')),
  }
}

test('a pixel stores the very event that a POST with the same members stores, once for each client_event_id', async () => {
  const members = { event_name: 'opened', url: page, title: 'Größe', referrer: 'https://mail.example.net/' }
  await show({ ...members, client_event_id: 'p-1', p_issue: '7', p___proto__: 'x', unknown: 'y' })
  await show({ ...members, client_event_id: 'p-1' })
  const properties = JSON.parse('{"issue": "7", "__proto__": "x"}')
  const body = { ...members, tracking_key: ingest.key, properties }
  expect((await ingest.post('/track', body, visitor)).status).toBe(202)
  const rows = await stored('opened')
  expect(rows).toHaveLength(2)
  expect(rows[0]).toEqual(rows[1])
  expect(rows[0]).toMatchObject({
    path: '/news',
    source: 'letter',
    medium: 'email',
    campaign: 'may',
    title: 'Größe',
    session_named: 0,
    browser: 'Firefox',
    anonymous_id: '',
    properties: '{"issue":"7","__proto__":"x"}',
  })
  expect(await counts()).toEqual({ accepted: 2, repeats: 1 })
})

test('without a name and an address it is a page view of the page that shows it, where that is one of the web', async () => {
  await show({}, { Referer: 'https://example.com/by-referer?utm_source=readme' })
  await show({ url: '' }, { Referer: `https://example.com/long?${'x'.repeat(3_000)}` })
  await show({ title: 'In an app', anonymous_id: 'reader-1' }, { Referer: 'android-app://com.example/' })
  const rows = await stored('pageview')
  expect(rows.map(({ kind, path, source, anonymous_id }) => [kind, path, source, anonymous_id])).toEqual([
    ['pageview', '/by-referer', 'readme', ''],
    ['pageview', '/long', 'direct', ''],
    ['pageview', '', 'direct', 'reader-1'],
  ])
})

test('a refused event shows the image and is counted by reason; a HEAD, what is sent ahead and what is objected to count nothing', async () => {
  const before = await counts()
  await show({}, {}, 'HEAD')
  for (const name of ['Sec-Purpose', 'Purpose']) await show({}, { [name]: 'prefetch' })
  for (const name of ['Sec-GPC', 'DNT']) await show({}, { [name]: '1' })
  expect(await counts()).toEqual(before)
  await show({ respect_gpc: 'false' }, { 'Sec-GPC': '1' })
  await show({}, { DNT: '0' })
  await show({ tracking_key: 'svc_pk_unknown' })
  await show({ tracking_key: '' })
  await show({ event_name: '' })
  await show({ title: 'x'.repeat(501) })
  await show({ title: 'a\0b' })
  await show({ p_long: 'x'.repeat(pixelQueryBytesMax) })
  const refused = { unknown_key: 2, invalid: 3, malformed: 1 }
  expect(await counts()).toEqual({ ...before, accepted: before['accepted']! + 2, ...refused })
  const posted = await fetch(`${ingest.url}/pixel`, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})
