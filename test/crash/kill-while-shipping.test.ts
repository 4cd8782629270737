import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { countedOnce, exactFigures, judgeFigures } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores, type TestStores } from '../support/stores.ts'
import { isInsert, type ProxyWatch, startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

/** Where the process is killed: seen from the stores, between two steps of shipping. */
const points = [
  'insert not sent',
  'insert under way',
  'insert answered',
  'copy not begun',
  'commit not sent',
  'commit not answered',
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

const stores = setUpStores()
/** None: all passes. */
let watches: ReturnType<typeof watchesFor> | undefined
const proxies: TcpProxy[] = []
let ingest: TestIngest

/** The process that one kill has brought is the next one's victim. */
async function start(node?: TestIngest): Promise<void> {
  const [CLICKHOUSE_URL, DATABASE_URL] = proxies.map(({ url }) => url) as [string, string]
  ingest = await startIngest(stores, { CLICKHOUSE_URL, DATABASE_URL }, node)
}

beforeAll(async () => {
  for (const name of ['clickhouse', 'postgres'] as const) {
    const watch: ProxyWatch = {
      toStore: (chunk) => watches?.[name].toStore?.(chunk) ?? true,
      fromStore: (chunk) => watches?.[name].fromStore?.(chunk) ?? true,
    }
    proxies.push(await startTcpProxy(name === 'clickhouse' ? stores.clickhouseUrl : stores.databaseUrl, watch))
  }
  await start()
})
afterAll(async () => {
  await ingest?.stop('SIGKILL')
  for (const proxy of proxies) await proxy.close()
})

test.each(points)(
  'kill -9 while shipping, at the point "%s", loses and doubles nothing, in rows and figures',
  async (point) => {
    for (let round = 0; round < rounds; round++) {
      const name = `${point}, round ${round}`
      const victim = ingest
      watches = watchesFor(point, () => victim.child.kill('SIGKILL'))
      const event = { event_type: 'identify', event_name: name, anonymous_id: 'v' }
      const events = Array.from({ length: 50 }, (_, i) => ({
        ...event,
        email: `${round}-${i}@example.com`,
        client_event_id: `${name}-${i}`,
      }))
      // On a busy machine the kill may come before the answer: the rows are on disk all the same.
      const answer = await victim.post('/track/batch', { tracking_key: victim.key, events }).catch(() => undefined)
      if (answer) expect(answer.body.accepted).toBe(50)
      await vi.waitUntil(() => victim.child.signalCode === 'SIGKILL', patience)
      watches = undefined
      await start(victim)
      // A sender that got no answer would send again: counted once, too.
      await ingest.post('/track/batch', { tracking_key: ingest.key, events })
      await ingest.shipped()
      await vi.waitUntil(async () => (await countOf(stores, name)).join() === '50,50', patience)
      expect(await judgeFigures(stores, isLong ? 'all' : 'none')).toEqual(isLong ? exactFigures : countedOnce)
    }
    const [row] = await stores.ch.query<{ rows: number; ids: number; claims: number }>(
      `SELECT count() AS rows, uniqExact(id) AS ids, uniqExact(client_event_id) AS claims FROM events
       WHERE startsWith(event_name, {point:String})`,
      { point },
    )
    expect(row).toEqual({ rows: 50 * rounds, ids: 50 * rounds, claims: 50 * rounds })
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
