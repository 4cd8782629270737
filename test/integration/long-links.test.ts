/** A link to the longest destination that is taken, with the longest parameters, all the way to the visitor. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listRedirects } from '../../postgres/tables/links/link-redirects.ts'
import { listLinks } from '../../postgres/tables/links/links.ts'
import {
  linkDestinationLengthMax,
  linksListedBytesMax,
  linksReadEach,
  linkUtmLengthMax,
  trackingUrlBytesMax,
} from '../../schemas/limits/api-limits.ts'
import { type Front, startFront } from '../../start/front/front.ts'
import { makeKey, makeWorkspace, setUpApi } from '../support/api.ts'
import { setUpIngest } from '../support/ingest.ts'
import { visit } from '../support/link-visits.ts'

const { stores, api } = setUpApi({ sharesWorkspace: true })
const ingest = setUpIngest(stores)
let front: Front
let apiKey: string
beforeAll(async () => {
  apiKey = (await makeKey(stores, ingest.workspaceId)).apiKey
  front = await startFront({
    host: '127.0.0.1',
    port: 0,
    countryHeader: 'x-country',
    trustedProxies: [],
    page: async () => '',
    portOf: (service) => (service === 'ingest' ? ingest.port : api.port),
  })
})
afterAll(() => front?.close())

interface Link {
  readonly id: number
  readonly attribution_key: string
  readonly destination_url: string
  readonly tracking_url: string
}

const start = 'https://example.com/'
const emoji = (count: number) => '😀'.repeat(count)

async function create(destination: string): Promise<Link> {
  const utm = emoji(linkUtmLengthMax)
  const body = { label: 'Long', destination_url: destination, utm_source: utm, utm_medium: utm }
  const response = await fetch(`http://127.0.0.1:${front.port}/v1/links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...body, utm_campaign: utm, utm_content: utm }),
  })
  expect(response.status).toBe(200)
  return (await response.json()) as Link
}

test.each(['', '?', '#'])(
  'the longest destination behind %j is taken, shown as sent, and redirected to',
  async (sign) => {
    const destination = start + sign + emoji(linkDestinationLengthMax - start.length - sign.length)
    const { id, attribution_key, destination_url, tracking_url } = await create(destination)
    expect(destination_url).toBe(destination)
    const bytes = Buffer.byteLength(tracking_url)
    expect([bytes > 30_000, bytes <= trackingUrlBytesMax]).toEqual([true, true])
    expect(new URL(tracking_url).searchParams.get('svc_link_id')).toBe(String(id))
    for (const port of [ingest.port, front.port]) {
      for (const method of ['GET', 'HEAD']) {
        const { status, location } = await visit(port, `/l/${attribution_key}`, { method })
        expect([status, location]).toEqual([302, tracking_url])
      }
    }
  },
)

test('what ingest reads of links is all of them in their order, up to its number and its bytes', async () => {
  // Hundreds of links changed at one moment: their ids alone tell where the next reading begins.
  const count = 2 * linksReadEach + 500
  await stores.pg.query(
    `INSERT INTO links (workspace_id, attribution_key, label, destination_url, tracking_url, tracking_params, utm_source, utm_medium,
       utm_campaign, utm_content, updated_at)
     SELECT $1, lpad(n::text, 8, '0'), 'a', 'a', rpad('https://example.com/' || n, 100, 'x'), '{}', '', '', '', '',
       now() + (n / 700) * interval '1 microsecond' FROM generate_series(1, $2::int) n`,
    [ingest.workspaceId, count],
  )
  const sql = 'SELECT id FROM links ORDER BY updated_at DESC, id DESC'
  const ids = (await stores.pg.query<{ id: number }>(sql)).map(({ id }) => id)
  const read = async (limit: number, bytesMax?: number) =>
    (await listRedirects(stores.pg, null, limit, bytesMax)).map(({ id }) => id)
  expect(await read(100_000)).toEqual(ids)
  expect(await read(linksReadEach)).toEqual(ids.slice(0, linksReadEach))
  expect(await read(linksReadEach + 1)).toEqual(ids.slice(0, linksReadEach + 1))
  expect(await read(100_000, 60_050)).toEqual(ids.slice(0, 600))
  const [newest] = await stores.pg.query<{ at: Date }>('SELECT max(updated_at) AS at FROM links')
  expect((await listRedirects(stores.pg, newest!.at, 100_000)).length).toBeGreaterThanOrEqual(1)
  expect(await listRedirects(stores.pg, new Date(Date.now() + 60_000), 100_000)).toEqual([])
})

test('a list of links without a limit is cut where it would be too long to send, and goes on behind its last one', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  const count = Math.ceil(linksListedBytesMax / 30_000) + 10
  await stores.pg.query(
    `INSERT INTO links (workspace_id, attribution_key, label, destination_url, tracking_url, tracking_params, utm_source, utm_medium,
       utm_campaign, utm_content)
     SELECT $1, 'L' || lpad(n::text, 7, '0'), 'a', 'https://example.com/', rpad('https://example.com/' || n, 30000, 'x'), '{}', '', '', '', ''
     FROM generate_series(1, $2::int) n`,
    [workspaceId, count],
  )
  const { apiKey: key } = await makeKey(stores, workspaceId)
  const list = async (query: string) => {
    const response = await api.ask(`/v1/links${query}`, { key })
    expect(response.status).toBe(200)
    return ((await response.json()) as Link[]).map(({ id }) => id)
  }
  const seen: number[] = []
  for (let page = await list(''); page.length > 0; page = await list(`?before_id=${seen.at(-1)}`)) {
    expect(page.length).toBeLessThanOrEqual(Math.floor(linksListedBytesMax / 30_000))
    seen.push(...page)
  }
  expect(seen).toHaveLength(count)
  expect([...seen].sort((one, other) => other - one)).toEqual(seen)
  expect(await list('?limit=200')).toEqual(seen.slice(0, 200))
  expect(await listLinks(stores.pg, workspaceId, { limit: 5_000, isArchived: false }, 90_000)).toHaveLength(3)
})
