/** LISTEN on a connection that reconnects when it breaks. A regular check notices a dead one. */
import pg from 'pg'
import { backoffMs, sleep } from '../runtime/retry.ts'
import { postgresDeadlineMs } from '../schemas/limits/store-limits.ts'

const firstRetryMs = 100
const lastRetryMs = 5_000
/** A connection whose peer vanished without a word is noticed within this time. */
const watchMs = 15_000

export function startListener(
  config: pg.ClientConfig,
  channel: string,
  onNotify: (payload: string) => void,
  onReconnect: () => void,
): { close(): Promise<void> } {
  const stopped = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    for (let attempt = 0; !stopped.signal.aborted; attempt++) {
      await listenOnce(() => {
        attempt = 0
      })
      await sleep(backoffMs(attempt, firstRetryMs, lastRetryMs), stopped.signal)
    }
  }

  /** Returns when the connection has ended, for whatever reason: the next one is the answer to all of them. */
  async function listenOnce(onUp: () => void): Promise<void> {
    const client = new pg.Client({ ...config, application_name: 'svc listen' })
    // A signal, whose listeners can leave. A promise would keep one of each round for as long as the connection lives.
    const ended = new AbortController()
    client.on('error', () => ended.abort())
    client.on('end', () => ended.abort())
    const over = AbortSignal.any([ended.signal, stopped.signal])
    client.on('notification', (message) => onNotify(message.payload ?? ''))
    try {
      await client.connect()
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      onUp()
      onReconnect()
      for (;;) {
        await sleep(watchMs, over)
        if (over.aborted) break
        await client.query({ text: 'SELECT 1', query_timeout: postgresDeadlineMs } as pg.QueryConfig)
      }
    } catch {
      // Reconnecting is what there is to do about any of it.
    }
    await Promise.race([client.end().catch(() => {}), sleep(firstRetryMs)])
  }

  return {
    close: () => {
      stopped.abort()
      return running
    },
  }
}
