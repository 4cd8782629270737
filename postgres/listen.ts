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
    const ended = new Promise<void>((resolve) => {
      client.on('error', () => resolve())
      client.on('end', () => resolve())
    })
    client.on('notification', (message) => onNotify(message.payload ?? ''))
    try {
      await client.connect()
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      onUp()
      onReconnect()
      let isUp = true
      while (isUp && !stopped.signal.aborted) {
        isUp = await Promise.race([ended.then(() => false), sleep(watchMs, stopped.signal).then(() => true)])
        if (isUp && !stopped.signal.aborted)
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
