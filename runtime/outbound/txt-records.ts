/** Asks the DNS for TXT records. Held by test/integration/txt-records.test.ts. */
import { promises as dns } from 'node:dns'

/** The texts of a name's records; none where there is no such name. */
export type TxtAnswer = readonly string[] | 'timeout' | 'failed'

/** Never rejects. */
export type ReadTxt = (name: string) => Promise<TxtAnswer>

/**
 * @param deadlineMs for a whole answer, whatever is tried for it
 * @param servers `address` or `address:port`; undefined: those of the system
 */
export function makeTxtReader(deadlineMs: number, servers?: readonly string[]): ReadTxt {
  return async (name) => {
    // One each: what is late is given up, and nothing else.
    const resolver = new dns.Resolver({ timeout: deadlineMs / 2, tries: 2 })
    if (servers !== undefined) resolver.setServers(servers)
    const timer = setTimeout(() => resolver.cancel(), deadlineMs)
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOTFOUND' || code === 'ENODATA') return []
      return code === 'ETIMEOUT' || code === 'ECANCELLED' ? 'timeout' : 'failed'
    } finally {
      clearTimeout(timer)
    }
  }
}
