/** Made-up events in an installation, and waiting until the aggregates have all that is stored. */
import { runCommandLine } from '../cli/run.ts'
import type { SeedResult } from '../cli/seed/seed-events.ts'
import { listLeftGenerations } from '../postgres/tables/aggregates.ts'
import { sleep } from '../runtime/retry.ts'
import { aggregateDayOverMs, aggregateLeftKeepMs, aggregateSweepMs } from '../schemas/limits.ts'
import { dayMs } from '../schemas/time-zone.ts'
import type { EventCounts } from './bench.ts'
import type { Installation } from './installation.ts'

export interface SeedShape {
  readonly events: number
  readonly workspaces: number
  readonly days: number
}

/** Half of the events are the first workspace's. What isn't measured may use both cores. */
export function seed(installation: Installation, { events, workspaces, days }: SeedShape): Promise<SeedResult> {
  const words = ['seed', '--events', events, '--workspaces', workspaces, '--days', days]
  return installation.onBothCores(() => runCommand<SeedResult>(installation, words.map(String)))
}

/** Until no event is missing in the aggregates. */
export function untilAggregated(installation: Installation): Promise<void> {
  return untilStatus(installation, 'no event is missing in the aggregates', (status) => status.pending_rows === 0)
}

/** Until days that are over are whole: of today's there may be none yet, nor of yesterday's while it may still change. */
function untilMerged(installation: Installation): Promise<void> {
  const open = () => (Date.now() % dayMs < aggregateDayOverMs ? 2 : 1)
  return untilStatus(installation, 'days are whole', ({ days, whole_days }) => whole_days >= days - open())
}

interface AggregatesStatus {
  readonly pending_rows: number
  readonly days: number
  readonly whole_days: number
}

const statusEveryMs = 500
const statusWithinMs = 3_600_000

async function untilStatus(
  installation: Installation,
  wanted: string,
  isReached: (status: AggregatesStatus) => boolean,
): Promise<void> {
  for (const deadline = Date.now() + statusWithinMs; ; await sleep(statusEveryMs)) {
    const status = await runCommand<AggregatesStatus>(installation, ['aggregates', 'status'])
    if (isReached(status)) return
    if (Date.now() > deadline) throw new Error(`not within an hour: ${wanted}; ${JSON.stringify(status)}`)
  }
}

/** The same, and until merges are done: what isn't measured may use both cores. */
export async function untilSettled(installation: Installation): Promise<void> {
  await installation.onBothCores(async () => {
    await untilAggregated(installation)
    await untilMerged(installation)
    await installation.untilQuiet(120_000)
  })
}

/**
 * The same, and until the rows of generations that were replaced are deleted, which are kept for readers for a while.
 * @returns whether they are: those of days that are over may be kept for an hour
 */
export async function untilSwept(installation: Installation): Promise<boolean> {
  await untilSettled(installation)
  const deadline = Date.now() + 2 * (aggregateLeftKeepMs + aggregateSweepMs)
  while ((await listLeftGenerations(installation.pg, 0, 1)).length > 0) {
    if (Date.now() > deadline) return false
    await sleep(statusEveryMs)
  }
  await installation.untilQuiet(120_000)
  return true
}

/**
 * What was seeded, what the overviews of its workspaces show of it, and what is stored.
 * @param days of the overview: enough for all of the seed
 */
export async function countSeeded(
  installation: Installation,
  { events, workspaces }: SeedResult,
  days: number,
): Promise<EventCounts> {
  let acknowledged = 0
  for (const { api_key } of workspaces) acknowledged += (await readOverview(installation, api_key, days)).events
  const [stored] = await installation.ch.query<{ rows: number; distinct: number }>(
    'SELECT count() AS rows, uniqExact(id) AS distinct FROM events WHERE workspace_id IN {ids:Array(UInt32)}',
    { ids: workspaces.map(({ workspace_id }) => workspace_id) },
    { deadlineMs: 120_000 },
  )
  return { sent: events, acknowledged, stored: stored!.rows, repeated: stored!.rows - stored!.distinct }
}

export async function readOverview(
  installation: Installation,
  apiKey: string,
  days: number,
): Promise<{ readonly events: number }> {
  const url = `http://127.0.0.1:${installation.service('api').port}/v1/analytics/overview?days=${days}`
  const response = await fetch(url, { headers: { Authorization: `Bearer ${apiKey}` } })
  if (!response.ok) throw new Error(`the overview answers ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { metrics: { events: number } }).metrics
}

/** A command of `svc`, with `--json`. */
async function runCommand<Result>(installation: Installation, words: readonly string[]): Promise<Result> {
  let out = ''
  let err = ''
  const terminal = {
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
    isInteractive: false,
  }
  const { signal } = new AbortController()
  const code = await runCommandLine([...words, '--json'], terminal, signal, installation.environment)
  if (code !== 0) throw new Error(err.trim())
  return JSON.parse(out) as Result
}
