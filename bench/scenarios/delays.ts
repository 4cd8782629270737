/**
 * How long after its time a post is published, a thousand of them due in one minute. Also how long after an identify
 * its person is in `GET /v1/people`, while other events come in. All services share one core.
 */
import { randomUUID } from 'node:crypto'
import { connectSocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { sleep } from '../../runtime/retry.ts'
import { scopes } from '../../schemas/scopes.ts'
import type { BenchSettings, EventCounts, Figure, ScenarioResult } from '../bench.ts'
import { allServices, Installation } from '../installation.ts'
import { latencyOf } from '../load/latency.ts'
import { type PairOptions, runCounted } from '../measure/pairs.ts'
import { productSide } from '../references/reference.ts'

const posts = { long: 1_000, short: 20 }
const dueSeconds = { long: 60, short: 2 }
const accounts = 4
const eventsPerSecond = 2_000
const identifySeconds = { long: 20, short: 2 }
/** Answers take time of the same core: up to so much of each figure is the asking. */
const askEveryMs = 250
const patienceMs = 60_000

export async function delays(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const form = isShort ? 'short' : 'long'
  const installation = await Installation.start(cores, { services: allServices })
  const counts: EventCounts = { sent: 0, acknowledged: 0, stored: 0, repeated: 0 }
  try {
    const published = await publishDue(installation, posts[form], dueSeconds[form])
    say(`  published after p95 ${published.latency!.p95}, at most ${published.value} ms`)
    const product = productSide(installation, 'track')
    const options: PairOptions = { installation, reference: product, product, settings, counts }
    const seconds = identifySeconds[form]
    const [round, lags] = await Promise.all([
      runCounted(options, { connections: 64, eventsPerRequest: 1, rate: eventsPerSecond }, eventsPerSecond * seconds),
      identify(installation, seconds),
    ])
    const identified = figureOf(lags, 'p95')
    say(`  people shown after p50 ${identified.latency!.p50}, p95 ${identified.value} ms`)
    return {
      figures: [
        {
          measure: `time from due to published, ${posts[form]} posts due in ${dueSeconds[form]} s, the longest`,
          ...published,
          goal: 5_000,
        },
        {
          measure: `p95 from an identify to GET /v1/people, at ${eventsPerSecond} events a second`,
          ...identified,
          goal: 3_000,
        },
      ],
      counts,
      remarks: [
        `Posts are published to ${accounts} simulated accounts. People are identified one after the other, each asked for by e-mail every ${askEveryMs} ms, which is part of the figure.`,
      ],
      settings: { posts: posts[form], eventsPerSecond, identifies: lags.length },
      rounds: [published, { lags, disturbedBy: round.disturbedBy }],
    }
  } finally {
    await installation.stop()
  }
}

type Lag = Pick<Figure, 'value' | 'unit'> & Required<Pick<Figure, 'latency'>>

async function publishDue({ pg, workspaceId }: Installation, count: number, seconds: number): Promise<Lag> {
  const made = { workspaceId, platform: 'x', displayName: undefined, externalId: null, metadata: {} } as const
  const ids: number[] = []
  for (let at = 0; at < accounts; at++) {
    ids.push((await connectSocialAccount(pg, { ...made, handle: `bench-${at}`, connectionType: 'simulated' })).id)
  }
  await pg.query(
    `WITH made AS (
       INSERT INTO posts (workspace_id, title, base_caption, status, scheduled_at)
       SELECT $1, 'p' || n, 'caption ' || n, 'scheduled', now() + n * interval '1 second' * $3::float8 / $4::int
       FROM generate_series(1, $4::int) AS n RETURNING id
     ) INSERT INTO post_targets (post_id, place, social_account_id, status)
     SELECT id, 1, ($2::bigint[])[1 + id % cardinality($2::bigint[])], 'scheduled' FROM made`,
    [workspaceId, ids, seconds, count],
  )
  const sql = `SELECT 1000 * extract(epoch FROM (publish_result ->> 'published_at')::timestamptz - scheduled_at)::float8 AS lag
    FROM post_targets JOIN posts ON posts.id = post_id WHERE posts.status = 'published'`
  for (const deadline = Date.now() + seconds * 1000 + patienceMs; ; await sleep(500)) {
    const rows = await pg.query<{ lag: number }>(sql)
    if (rows.length === count)
      return figureOf(
        rows.map(({ lag }) => lag),
        'max',
      )
    if (Date.now() > deadline) throw new Error(`${count - rows.length} posts were not published`)
  }
}

/** @returns milliseconds from the 202 of each until its person was shown */
async function identify(installation: Installation, seconds: number): Promise<number[]> {
  const { pg, workspaceId, trackingKey } = installation
  const key = await pg.transaction((tx) => createApiKey(tx, { workspaceId, name: 'bench', scopes }))
  const headers = { authorization: `Bearer ${key!.apiKey}` }
  const urlOf = (service: 'ingest' | 'api', path: string) =>
    `http://127.0.0.1:${installation.service(service).port}${path}`
  const one = async (email: string) => {
    const event = { event_name: 'identify', event_type: 'identify', email, anonymous_id: randomUUID() }
    const body = JSON.stringify({ tracking_key: trackingKey, ...event })
    const taken = await fetch(urlOf('ingest', '/api/v1/growth/track'), { method: 'POST', body })
    if (taken.status !== 202) throw new Error(`an identify was answered ${taken.status}`)
    const since = performance.now()
    for (;;) {
      const shown = await fetch(urlOf('api', `/v1/people?limit=1&q=${encodeURIComponent(email)}`), { headers })
      if (((await shown.json()) as unknown[]).length === 1) return performance.now() - since
      if (performance.now() - since > patienceMs) throw new Error(`${email} is not shown`)
      await sleep(askEveryMs)
    }
  }
  const lags: number[] = []
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    lags.push(await one(`p${lags.length}@example.com`))
  }
  return lags
}

function figureOf(lags: readonly number[], which: 'p95' | 'max'): Lag {
  const latency = latencyOf(lags)
  return { value: latency[which], unit: 'ms', latency }
}
