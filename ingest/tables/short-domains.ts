/**
 * The table of short domains: from a host to its workspace's domain, without a query to Postgres. It has the verified ones
 * alone, follows Postgres as replicated-table.ts says, and is read whole each time. A host that isn't in it is no short domain.
 * Until it is read once, from Postgres or from its copy, any host may be one.
 *
 * Held by test/integration/short-domain-redirects.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import { trackingUrlOf } from '../../schemas/event/tracking-url.ts'
import { shortDomainHopsMax } from '../../schemas/limits/domain-limits.ts'
import { hostOfHeader, readShortDomain } from '../../schemas/short-domain.ts'
import { type ReplicatedTable, type ReplicatedTableOptions, replicateTable } from './replicated-table.ts'

/** A verified domain, as Postgres holds it. */
interface DomainRow {
  readonly id: number
  readonly host: string
  readonly root_url: string | null
  readonly not_found_url: string | null
}

/** Where requests lead that are for no link. The addresses are in ASCII. */
export interface ShortDomain {
  readonly id: number
  /** Null: a 404 page. */
  readonly rootUrl: string | null
  /** Null: a 404 page. */
  readonly notFoundUrl: string | null
}

export interface DomainTableOptions extends ReplicatedTableOptions {
  /** The installation's own hosts, which are never short domains. */
  readonly ownHosts: readonly string[]
  readonly listDomains: () => Promise<readonly DomainRow[]>
  /** Called with the hosts after the first reading, and after each that changed them. */
  readonly onHosts?: (hosts: readonly string[]) => void
}

export interface DomainTable extends Pick<ReplicatedTable<ShortDomain>, 'start' | 'close'> {
  /**
   * @param header the `Host` of a request
   * @returns undefined for a host that is no short domain; `unavailable` for one that may be
   */
  ofRequest(header: string): ShortDomain | 'unavailable' | undefined
}

export function makeDomainTable(options: DomainTableOptions): DomainTable {
  const { file, keepsCopy = true, onHosts = () => {}, ownHosts, log } = options
  let domains = new Map<string, ShortDomain>()
  let isRead = false
  let written = ''
  let told: string | undefined

  function take(rows: readonly DomainRow[]): void {
    const byHost = new Map(rows.map((row) => [row.host, row]))
    domains = new Map(rows.map((row) => [row.host, domainOf(row, byHost)]))
    isRead = true
    const hosts = [...domains.keys()]
    const telling = JSON.stringify(hosts)
    if (telling === told) return
    told = telling
    onHosts(hosts)
  }

  async function writeCopy(rows: readonly DomainRow[]): Promise<void> {
    const copy = JSON.stringify({ domains: rows })
    if (!keepsCopy || copy === written) return
    try {
      await writeFileDurably(file, copy)
      written = copy
    } catch (error) {
      log.error({ err: error }, 'the copy of the short domains could not be written')
    }
  }

  const { start, close } = replicateTable<ShortDomain>(options, {
    name: 'short domains',
    size: () => domains.size,
    find: (host) => domains.get(host),
    // All of them are in memory.
    isShaped: () => false,
    lookUp: async () => null,
    read: async () => {
      const rows = await options.listDomains()
      take(rows)
      await writeCopy(rows)
    },
    readCopy: async () => take((JSON.parse(await readFile(file, 'utf8')) as { domains: DomainRow[] }).domains),
  })
  return {
    start,
    close,
    ofRequest: (header) => {
      if (isRead) return domains.size === 0 ? undefined : domains.get(hostOfHeader(header))
      const host = hostOfHeader(header)
      return ownHosts.includes(host) || readShortDomain(host) === null ? undefined : 'unavailable'
    },
  }
}

type Rows = ReadonlyMap<string, DomainRow>

/** An address in a loop, or before too many hops, is left out: visitors get the page for unknown links. */
function domainOf({ id, root_url, not_found_url }: DomainRow, rows: Rows): ShortDomain {
  const shown = (url: string | null) => (url === null || endsNowhere(url, rows) ? null : trackingUrlOf(url, {}))
  return { id, rootUrl: shown(root_url), notFoundUrl: shown(not_found_url) }
}

/**
 * Whether an address leads into a loop, or through more domains than it may. The API refuses a loop within one workspace
 * (api/operations/domains/loops.ts), but several workspaces may make one. A key counts as unknown. Without the bound
 * they could make a chain so long that ingest would stand still at each reading.
 */
function endsNowhere(url: string, rows: Rows): boolean {
  const passed = new Set<string>()
  for (let next: string | null = url; next !== null; ) {
    const { hostname, pathname }: URL = new URL(next)
    const row = rows.get(hostOfHeader(hostname))
    if (row === undefined) return false
    const isRoot = pathname === '/'
    const place = `${row.id} ${isRoot}`
    if (passed.has(place) || passed.size === shortDomainHopsMax) return true
    passed.add(place)
    next = isRoot ? row.root_url : row.not_found_url
  }
  return false
}
