/**
 * kill -9 of processes of the whole product, under load: in the middle of folds, each in turn and all at once, and while
 * people are merged and webhooks sent to. All that was acknowledged is stored, counted and told of, once.
 */
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { sleep } from '../../runtime/retry.ts'
import type { ProcessName } from '../../start/dev-file.ts'
import { runSvc } from '../support/command-line.ts'
import { exactFigures, foldStored, judgeFigures } from '../support/figures.ts'
import { untilShipped } from '../support/ingest.ts'
import { drawLateEvents } from '../support/late-events.ts'
import { exact, judge, type Ledger, openLedger, type StoredEvent, storedEventsSql } from '../support/ledger.ts'
import { expectOverview, holdOverviews } from '../support/overview-ledger.ts'
import { emptyRedis, isWell, setUpProduct, targetOf, withStores } from '../support/product.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const draw = drawsOf('kill')
const running = setUpProduct({ ALLOW_PRIVATE_TARGETS: 'true', RATE_LIMIT_GROWTH: '1000000' })
const target = targetOf(() => running.product)

// Kills inside folds, while events keep coming: current ones, and late ones by up to three days, in sessions over hours and
// midnights. Each overview meanwhile has all that was acknowledged before its `as_of`, and nothing that wasn't sent.

const foldKills = isLong ? 50 : 2
/** The long form kills ClickHouse and ingest as well. */
const killedInFolds = isLong ? (['pipeline', 'clickhouse', 'ingest', 'pipeline'] as const) : (['pipeline'] as const)
/** Pause of each of the ledger's connections: some hundred events a second together. */
const foldPauseMs = 100
/** About as long as a fold takes. */
const foldMs = 400
const sessions = isLong ? 600 : 200
const patience = { timeout: 120_000 }
const closely = { timeout: 120_000, interval: 5 }

interface FoldLease {
  readonly by: string | null
  readonly isTaken: boolean
  /** Version of the last fold that was written. */
  readonly version: number
}

async function readLease(pg: Postgres): Promise<FoldLease> {
  const [lease] = await pg.query<FoldLease>(
    'SELECT leased_by AS by, leased_until > now() AS "isTaken", version FROM fold_state',
  )
  return lease!
}

/**
 * Kills at a random moment of a fold, every second time of the first one that can be met. The lease of a killed pipeline is
 * left to it now and then: the next one waits for its end.
 */
async function killInsideFolds(pg: Postgres): Promise<void> {
  let last: string | null = null
  for (let kill = 0; kill < foldKills; kill++) {
    const name = killedInFolds[kill % killedInFolds.length]!
    const { version } = await readLease(pg)
    const isMet = (lease: FoldLease) =>
      lease.isTaken && lease.by !== last && (kill % 2 === 1 || lease.version > version)
    let by: string | null = null
    await vi.waitUntil(async () => {
      const lease = await readLease(pg)
      by = lease.by
      return isMet(lease)
    }, closely)
    await sleep(draw() * foldMs)
    running.product.kill(name)
    if (name !== 'pipeline') continue
    last = by
    if (kill % 4 !== 3 && kill < foldKills - 1)
      await pg.query(`UPDATE fold_state SET leased_until = '-infinity' WHERE leased_by = $1`, [by])
  }
  const { version } = await readLease(pg)
  await vi.waitUntil(async () => (await readLease(pg)).version > version, closely)
}

// The first of the file: its overview is that of all events there are.
test(
  `${foldKills} kills inside folds leave figures that equal the events, and no answer meanwhile lacks what its moment promises`,
  async () => {
    const late = drawLateEvents(draw, sessions)
    const nextEvent = (number: number) =>
      number % 3 === 0
        ? late.body()
        : {
            event_name: 'pageview',
            url: `https://example.com/of-now/${number % 3}`,
            anonymous_id: `now-${number % 400}`,
            session_id: `session-${number % 400}`,
          }
    const ledger = openLedger({ nextEvent, pauseMs: foldPauseMs })
    const stop = new AbortController()
    const moments = new Set<string>()
    await withStores(running.product, async (stores) => {
      const asking = holdOverviews(running, ledger, moments, stop.signal)
      const work = async () => {
        await killInsideFolds(stores.pg)
        // Kills may follow each other faster than answers do.
        await Promise.race([asking, vi.waitUntil(() => moments.size > foldKills / 2, patience)])
      }
      // Its failure is thrown once nothing is under way any more.
      asking.catch(() => {})
      await ledger.runDuring(target, work, 50 * foldKills).finally(() => stop.abort())
      await asking
    })
    await untilShipped(running.product.dev.tracking_url)
    await withStores(running.product, async (stores) => {
      const rows = await stores.ch.query<StoredEvent>(storedEventsSql)
      expect(judge(ledger, rows)).toEqual(exact)
      await foldStored(stores)
      await expectOverview(
        running,
        rows.flatMap(({ title }) => ledger.told.get(title) ?? []),
      )
    })
    const { database_url: DATABASE_URL, clickhouse_url: CLICKHOUSE_URL } = running.product.dev
    expect(await runSvc(['figures', 'check'], { DATABASE_URL, CLICKHOUSE_URL })).toMatchObject({
      code: 0,
      out: expect.stringContaining('are right'),
    })
  },
  300_000 + foldKills * 60_000,
)

// Kills of each process, and of all of them at once.

const allAtOnce = 'the whole process group'
const killedUnderLoad = ['ingest', 'clickhouse', 'redis', 'postgres', 'pipeline', allAtOnce] as const
/**
 * Killed in each round. The short form kills each once under one load. The long form kills each alone, the one
 * that acknowledges most.
 */
const plans: readonly (readonly [string, readonly (readonly (typeof killedUnderLoad)[number][])[]])[] = isLong
  ? killedUnderLoad.map((name) => [name, Array.from({ length: name === 'ingest' ? 30 : 10 }, () => [name])])
  : [['each process in turn, and of all at once,', [killedUnderLoad]]]
const roundMs = isLong ? 4_000 : 2_500
/** Load for a round, with `strike` at a random moment in it. */
async function strikeUnderLoad(strike: () => Promise<void> | void): Promise<Ledger> {
  const ledger = openLedger()
  const at = 300 + draw() * (roundMs - 1_000)
  await ledger.runDuring(
    target,
    async () => {
      await sleep(at)
      await strike()
      await sleep(roundMs - at)
    },
    100,
  )
  return ledger
}

/** Waits until another process answers in place of the one that was killed. */
async function untilReplaced(name: ProcessName, pidBefore: number | null): Promise<void> {
  await vi.waitUntil(() => ![null, pidBefore].includes(running.product.dev.pids[name]), patience)
  if (name === 'ingest') {
    await vi.waitUntil(() => isWell(`${running.product.dev.tracking_url}/health`), { ...patience, interval: 20 })
  }
}

async function expectExact(ledger: Ledger): Promise<void> {
  await untilShipped(running.product.dev.tracking_url)
  await withStores(running.product, async (stores) => {
    // Nothing may have waited for it since it was killed.
    await vi.waitUntil(() => stores.pg.ping(), patience)
    expect(judge(ledger, await stores.ch.query<StoredEvent>(storedEventsSql))).toEqual(exact)
    // Beside the pipeline, which folds as well.
    expect(await judgeFigures(stores)).toEqual(exactFigures)
  })
}

describe.each(plans)('kill -9 of %s under load', (_, rounds) => {
  test(
    `loses and doubles no acknowledged event, in rows and figures, in rounds: ${rounds.length}`,
    async () => {
      for (const names of rounds) {
        const ledger = await strikeUnderLoad(async () => {
          for (const name of names) {
            if (name === allAtOnce) {
              await running.restart()
              continue
            }
            const pidBefore = running.product.dev.pids[name]
            running.product.kill(name)
            await untilReplaced(name, pidBefore)
          }
        })
        await expectExact(ledger)
      }
    },
    900_000 + rounds.length * 60_000,
  )
})

// Kills of the pipeline and of its stores while people are merged and webhooks sent to.

/** Identify events of each person, on two browsers. */
const identifiesEach = 5
const people = isLong ? 10_000 : 200
const identifies = people * identifiesEach
const batch = isLong ? 100 : 20
/** Each of them is told to both endpoints. */
const changes = isLong ? 5_000 : 60
const paths = ['/one', '/other'] as const
const killedInSending: readonly ProcessName[] = isLong
  ? Array.from({ length: 7 }, () => ['pipeline', 'redis', 'pipeline', 'postgres'] as const).flat()
  : ['pipeline', 'redis', 'postgres', 'pipeline']
const callers = 4
const sendingPauseMs = isLong ? 1_500 : 400
const settleMs = isLong ? 600_000 : 180_000

let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  // One in twenty is refused, once, and tried again.
  let requests = 0
  const refused = new Set<string>()
  receiver.behaviour = ({ headers }, response) => {
    const id = String(headers['webhook-id'])
    const isRefused = requests++ % 20 === 7 && !refused.has(id)
    if (isRefused) refused.add(id)
    response.writeHead(isRefused ? 500 : 200).end()
  }
})
afterAll(() => receiver?.close())

const begin = Math.floor(Date.now() / 1000) * 1000 - 3_600_000

/** The first on one browser, by a newsletter; the last on the other one, by an ad. */
function identify(person: number, nth: number) {
  const browser = `browser-${person}-${nth % 2}`
  const touch = nth === 0 ? { source: 'news', medium: 'email' } : nth === 4 ? { source: 'ads', medium: 'cpc' } : {}
  return {
    event_type: 'identify',
    event_name: 'identify',
    email: `p${person}@example.com`,
    anonymous_id: browser,
    session_id: browser,
    client_event_id: `${person}-${nth}`,
    ...touch,
    occurred_at: new Date(begin + nth * 1000).toISOString(),
  }
}

/** Until it is done: a store may be away, and an answer lost. A repeat counts once, by its ids or its key. */
async function post<Answer>(path: string, body: object, key = ''): Promise<Answer> {
  for (;;) {
    try {
      const { base_url, api_key } = running.product.dev
      const headers = { Authorization: `Bearer ${api_key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
      const answer = await fetch(new URL(path, base_url), {
        method: 'POST',
        headers: key === '' ? {} : headers,
        body: JSON.stringify(body),
      })
      if (answer.ok) return (await answer.json()) as Answer
      expect([409, 500, 502, 503], await answer.text()).toContain(answer.status)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await sleep(100)
  }
}

/** Does the works, a few at a time, as long as kills go on. */
async function spread<Work>(works: Work[], work: (one: Work, at: number) => Promise<unknown>): Promise<void> {
  const everyMs = (sendingPauseMs * killedInSending.length * callers) / works.length
  let next = 0
  const call = async () => {
    while (next < works.length) {
      const at = next++
      await work(works[at]!, at)
      await sleep(everyMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
}

async function sendEvents(): Promise<void> {
  const order = Array.from({ length: identifies }, (_, at) => ({ at, place: draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ at }) => identify(Math.floor(at / identifiesEach), at % identifiesEach))
  const batches = Array.from({ length: Math.ceil(order.length / batch) }, (_, at) =>
    order.slice(at * batch, (at + 1) * batch),
  )
  const { tracking_key } = running.product.dev
  await spread(batches, async (events) => {
    expect(await post('/api/v1/growth/track/batch', { tracking_key, events })).toMatchObject({ rejected: [] })
  })
}

/** @returns the ids of what was made */
async function makeChanges(): Promise<number[]> {
  const links: number[] = []
  await spread(Array.from({ length: changes }), async (_, at) => {
    const link = { label: `Link ${at}`, destination_url: 'https://example.com/' }
    links.push((await post<{ id: number }>('/v1/links', link, `link-${at}`)).id)
  })
  return links
}

async function killOneByOne(): Promise<void> {
  for (const name of killedInSending) {
    await sleep(sendingPauseMs * (0.5 + draw()))
    // Its data is lost with it.
    if (name === 'redis') await emptyRedis(running.product)
    await vi.waitUntil(() => running.product.kill(name), patience)
    // Its successor waits for the end of its leases, which comes sooner in short.
    if (name === 'pipeline' && !isLong) {
      await query(
        `UPDATE webhook_endpoints SET leased_until = least(leased_until, now() + interval '3 s') WHERE leased_until > now()`,
      )
    }
  }
}

/** Undefined while a store is away. */
const query = (sql: string) => withStores(running.product, ({ pg }) => pg.query(sql)).catch(() => undefined)

/** These people by what is known of them. */
const known = () =>
  query(
    `SELECT event_count, session_count, first_source, source, (SELECT count(*) FROM bindings WHERE contact_id = contacts.id) AS browsers,
       count(*) AS people
     FROM contacts WHERE email ~ '^p[0-9]' GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
  )
const delivered = () => query(`SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'delivered'`)

test(
  `through ${killedInSending.length} kills ${identifies} identifies make ${people} whole people, and ${changes} changes reach both endpoints, each under one id and rightly signed`,
  async () => {
    const secrets = new Map<string, string>()
    for (const path of paths) {
      const registration = { url: receiver.url + path, events: ['link.created'] }
      secrets.set(path, (await post<{ secret: string }>('/v1/webhooks', registration, path)).secret)
    }
    const [links] = await Promise.all([makeChanges(), sendEvents(), killOneByOne()])
    expect(new Set(links).size).toBe(changes)
    const settled = { timeout: settleMs, interval: 500 }
    const whole = { event_count: identifiesEach, session_count: 2, first_source: 'news', source: 'ads', browsers: 2 }
    await expect.poll(known, settled).toEqual([{ ...whole, people }])
    await expect.poll(delivered, settled).toEqual([{ count: changes * paths.length }])
    // Nothing is done once more afterwards.
    await sleep(3_000)
    expect(await known()).toEqual([{ ...whole, people }])

    const idsOf = new Map<string, Set<string>>()
    for (const { path, headers, body } of receiver.received) {
      const { id, data } = new Webhook(secrets.get(path)!).verify(body, headers) as {
        id: string
        data: { object: { id: number } }
      }
      expect(id).toBe(headers['webhook-id'])
      const what = `${path} ${data.object.id}`
      idsOf.set(what, (idsOf.get(what) ?? new Set()).add(id))
    }
    expect([...idsOf.keys()].sort()).toEqual(paths.flatMap((path) => links.map((id) => `${path} ${id}`)).sort())
    expect([...idsOf.values()].every((ids) => ids.size === 1)).toBe(true)
  },
  2 * settleMs + (isLong ? 600_000 : 120_000),
)
