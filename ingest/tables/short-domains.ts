/**
 * The table of short domains: from a host to its workspace's domain, without a query to Postgres. It has the verified ones
 * alone, follows Postgres as replicated-table.ts says, and is read whole each time. A host that isn't in it is no short domain.
 *
 * Held by test/integration/short-domain-redirects.test.ts.
 */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '../../runtime/files/durable-file.ts'
import { trackingUrlOf } from '../../schemas/event/tracking-url.ts'
import { hostOfHeader } from '../../schemas/short-domain.ts'
import { type ReplicatedTable, type ReplicatedTableOptions, replicateTable } from './replicated-table.ts'

/** A verified domain, as Postgres holds it. */
export interface DomainRow {
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
  readonly listDomains: () => Promise<readonly DomainRow[]>
  /** Told of the hosts after each reading that changed them. */
  readonly onHosts?: (hosts: readonly string[]) => void
}

export interface DomainTable extends Pick<ReplicatedTable<ShortDomain>, 'start' | 'close'> {
  /** @param header the `Host` of a request; undefined for a host that is no short domain */
  ofRequest(header: string): ShortDomain | undefined
}

export function makeDomainTable(options: DomainTableOptions): DomainTable {
  const { file, keepsCopy = true, onHosts = () => {}, log } = options
  let domains = new Map<string, ShortDomain>()
  let written = ''
  let told = '[]'

  function take(rows: readonly DomainRow[]): void {
    domains = new Map(rows.map((row) => [row.host, domainOf(row)]))
    const hosts = [...domains.keys()]
    if (JSON.stringify(hosts) === told) return
    told = JSON.stringify(hosts)
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
    // All of them are at hand.
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
    ...{ start, close },
    // An installation without any doesn't read the header.
    ofRequest: (header) => (domains.size === 0 ? undefined : domains.get(hostOfHeader(header))),
  }
}

function domainOf({ id, root_url, not_found_url }: DomainRow): ShortDomain {
  const ascii = (url: string | null) => (url === null ? null : trackingUrlOf(url, {}))
  return { id, rootUrl: ascii(root_url), notFoundUrl: ascii(not_found_url) }
}
