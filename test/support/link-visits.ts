/** Visits of short links, and what ingest makes of them. */
import type { TrackedLink } from '../../postgres/tables/links/links.ts'
import type { TestIngest } from './ingest.ts'
import { exchange } from './raw-http.ts'
import type { TestStores } from './stores.ts'

export const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile/15E148 Safari/604.1'
const person = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

export interface Visit {
  readonly method?: string
  /** Firefox on Linux at the host `a`, where none of these say otherwise. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Not by `fetch`, which sets the host and headers of its own. */
export async function visit(port: number, path: string, { method = 'GET', headers = {}, body = '' }: Visit = {}) {
  const length = body === '' ? {} : { 'Content-Length': String(body.length) }
  const lines = Object.entries({ Host: 'a', 'User-Agent': person, Connection: 'close', ...length, ...headers })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': ')), '', ''].join('\r\n')
  const { text } = await exchange(port, [head + body], { waitMs: 60_000 })
  const header = (name: string) => new RegExp(`\r\n${name}: (.*)\r\n`, 'i').exec(text)?.[1]
  return { status: Number(text.slice(9, 12)), location: header('Location'), header, text }
}

/** The stored visits of a link, in their order. */
export async function clicksOf(
  stores: Pick<TestStores, 'ch'>,
  ingest: Pick<TestIngest, 'shipped'>,
  { id }: Pick<TrackedLink, 'id'>,
): Promise<Record<string, unknown>[]> {
  await ingest.shipped()
  return stores.ch.query('SELECT * FROM link_clicks WHERE link_id = {id:UInt32} ORDER BY id', { id })
}
