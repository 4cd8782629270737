import { expect, test, vi } from 'vitest'
import { countedOnce, exactFigures, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { isLong } from '../support/short-form.ts'
import { freshStores, type TestStores } from '../support/stores.ts'
import { isInsert, type ProxyWatch, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

/** Where the process is killed: seen from the stores, between two steps of shipping. */
const points = [
  ...(['insert not sent', 'insert under way', 'insert answered'] as const),
  ...(['copy not begun', 'commit not sent', 'commit not answered'] as const),
] as const
type Point = (typeof points)[number]
const rounds = isLong ? 8 : 1
const patience = { timeout: 60_000, interval: 20 }

/** Watches of both stores that call `kill` at `point`, once. */
function watchesFor(point: Point, kill: () => void): Record<'clickhouse' | 'postgres', ProxyWatch> {
  let isKilled = false
  let hasInserted = false
  let hasCommitted = false
  const strike = () => {
    isKilled = true
    kill()
    return false
  }
  return {
    clickhouse: {
      toStore: (chunk) => {
        if (isKilled) return false
        if (isInsert(chunk)) {
          hasInserted = true
          if (point === 'insert not sent') return strike()
        }
        return true
      },
      fromStore: () => {
        if (isKilled) return false
        if (!hasInserted) return true
        if (point === 'insert under way') return strike()
        if (point === 'insert answered') setImmediate(strike)
        return true
      },
    },
    postgres: {
      toStore: (chunk) => {
        if (isKilled) return false
        const text = chunk.toString('latin1')
        if (point === 'copy not begun' && text.includes('shipped_manifests')) return strike()
        if (text.includes('COMMIT')) {
          hasCommitted = true
          if (point === 'commit not sent') return strike()
        }
        return true
      },
      fromStore: () => {
        if (isKilled) return false
        return hasCommitted && point === 'commit not answered' ? strike() : true
      },
    },
  }
}

/** Each with stores of its own and at once: most of it is waiting. */
test.concurrent.each(points)(
  'kill -9 while shipping, at the point "%s", loses and doubles nothing, in rows and figures',
  async (point) => {
    const stores = await freshStores()
    const proxies: TcpProxy[] = []
    let ingest: TestIngest | undefined
    try {
      for (let round = 0; round < rounds; round++) {
        let isArmed = false
        const watches = watchesFor(point, () => ingest!.child.kill('SIGKILL'))
        const armed = (watch: ProxyWatch): ProxyWatch => ({
          toStore: (chunk) => !isArmed || (watch.toStore?.(chunk) ?? true),
          fromStore: (chunk) => !isArmed || (watch.fromStore?.(chunk) ?? true),
        })
        const clickhouse = await startTcpProxy(stores.clickhouseUrl, armed(watches.clickhouse))
        const postgres = await startTcpProxy(stores.databaseUrl, armed(watches.postgres))
        proxies.push(clickhouse, postgres)
        ingest = await startIngest(stores, { CLICKHOUSE_URL: clickhouse.url, DATABASE_URL: postgres.url }, ingest)
        isArmed = true
        const event = { event_type: 'identify', event_name: `round ${round}`, anonymous_id: 'v' }
        const events = Array.from({ length: 50 }, (_, i) => ({
          ...event,
          email: `${round}-${i}@example.com`,
          client_event_id: `${round}-${i}`,
        }))
        // On a busy machine the kill may come before the answer: the rows are on disk all the same.
        const answer = await ingest.post('/track/batch', { tracking_key: ingest.key, events }).catch(() => undefined)
        if (answer) expect(answer.body.accepted).toBe(50)
        await vi.waitUntil(() => ingest!.child.signalCode === 'SIGKILL', patience)
        ingest = await startIngest(stores, {}, ingest)
        // A sender that got no answer would send again: counted once, too.
        await ingest.post('/track/batch', { tracking_key: ingest.key, events })
        await ingest.shipped()
        await vi.waitUntil(async () => (await countOf(stores, `round ${round}`)).join() === '50,50', patience)
        expect(await judgeFigures(stores, isLong ? 'all' : 'none')).toEqual(isLong ? exactFigures : countedOnce)
        await ingest.stop()
      }
      const [row] = await stores.ch.query<{ rows: number; ids: number; claims: number }>(
        'SELECT count() AS rows, uniqExact(id) AS ids, uniqExact(client_event_id) AS claims FROM events',
      )
      expect(row).toEqual({ rows: 50 * rounds, ids: 50 * rounds, claims: 50 * rounds })
    } finally {
      await ingest?.stop('SIGKILL')
      for (const proxy of proxies) await proxy.close()
      await stores.close()
    }
  },
  300_000 * rounds,
)

/** Events of that name in ClickHouse, and in the inbox. */
async function countOf({ ch, pg }: TestStores, name: string): Promise<number[]> {
  const [stored] = await ch.query<{ count: number }>(
    'SELECT count() AS count FROM events WHERE event_name = {name:String}',
    { name },
  )
  const [copied] = await pg.query<{ count: number }>('SELECT count(*) AS count FROM inbox WHERE event_name = $1', [
    name,
  ])
  return [stored!.count, copied!.count]
}
