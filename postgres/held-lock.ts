/**
 * A lock that is held by a connection of its own, for work longer than a transaction. Who dies lets it go at once: the
 * server sees the end of the connection. Where a machine vanishes without a word, the server's own checks find it out.
 */
import pg from 'pg'
import { StoreUnavailable } from '../runtime/store-error.ts'
import { postgresDeadlineMs } from '../schemas/limits/store-limits.ts'
import { numberOfLock } from './named-lock.ts'

export interface HeldLock {
  /**
   * Makes sure that it is held now. Where its connection broke it is taken anew: others may have had it meanwhile.
   * @returns false while another has it
   * @throws StoreUnavailable while Postgres can't be asked
   */
  hold(): Promise<boolean>
  release(): Promise<void>
}

/** The server asks a silent peer after 10 seconds, three times, and then ends its session. */
const peerChecks = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3'

/** Holds nothing yet. */
export function makeHeldLock(config: pg.ClientConfig, name: string): HeldLock {
  let holder: pg.Client | undefined

  async function take(): Promise<boolean> {
    const client = new pg.Client({ ...config, application_name: 'svc lock', options: peerChecks })
    const lose = () => {
      if (holder === client) holder = undefined
    }
    client.on('error', lose)
    client.on('end', lose)
    try {
      await client.connect()
      const text = 'SELECT pg_try_advisory_lock($1) AS locked'
      const { rows } = await client.query<{ locked: boolean }>({ text, values: [numberOfLock(name)] })
      if (rows[0]!.locked) holder = client
    } catch (error) {
      await end(client)
      throw new StoreUnavailable('postgres', (error as Error).message, { cause: error })
    }
    if (holder !== client) await end(client)
    return holder === client
  }

  return {
    hold: async () => {
      const client = holder
      if (client === undefined) return take()
      try {
        await client.query({ text: 'SELECT 1', query_timeout: postgresDeadlineMs } as pg.QueryConfig)
        return true
      } catch {
        if (holder === client) holder = undefined
        await end(client)
        return take()
      }
    },
    release: async () => {
      if (holder !== undefined) await end(holder)
    },
  }
}

/** Cuts a connection that doesn't say goodbye in time. */
async function end(client: pg.Client): Promise<void> {
  const cut = setTimeout(
    () => (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy(),
    1_000,
  )
  await client.end().catch(() => {})
  clearTimeout(cut)
}
