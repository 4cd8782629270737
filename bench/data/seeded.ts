/** Made-up events in an installation, and waiting until figures have all that is stored. */
import { runCommandLine } from '../../cli/run.ts'
import type { SeedResult } from '../../cli/seed/seed-events.ts'
import { sleep } from '../../runtime/retry.ts'
import { closeDaysEveryMs } from '../../schemas/limits/figure-limits.ts'
import type { EventCounts } from '../bench.ts'
import type { Installation } from '../installation.ts'

export interface SeedShape {
  readonly events: number
  readonly workspaces: number
  readonly days: number
}

/** Half of the events are the first workspace's. Seeding isn't measured, so it may use both cores. */
export function seed(installation: Installation, { events, workspaces, days }: SeedShape): Promise<SeedResult> {
  const words = ['seed', '--events', events, '--workspaces', workspaces, '--days', days]
  return installation.onBothCores(() => runCommand<SeedResult>(installation, words.map(String)))
}

interface FiguresStatus {
  readonly pending_events: number
}

const statusEveryMs = 500
/** The status counts what waits. So the pause after it is so many times as long as it took. */
const statusPause = 20
const statusWithinMs = 2 * 3_600_000
/** Merges of 100 M events take minutes. */
const quietWithinMs = 600_000

/** Until every stored event is in figures. */
export async function untilFolded(installation: Installation): Promise<void> {
  for (const deadline = Date.now() + statusWithinMs; ; ) {
    const askedAt = Date.now()
    const status = await runCommand<FiguresStatus>(installation, ['figures', 'status'])
    if (status.pending_events === 0) return
    await sleep(Math.max(statusEveryMs, statusPause * (Date.now() - askedAt)))
    if (Date.now() > deadline) throw new Error(`events are still not folded: ${JSON.stringify(status)}`)
  }
}

/** The same, and until days that are over have cells and merges are done: what isn't measured may use both cores. */
export async function untilSettled(installation: Installation): Promise<void> {
  await installation.onBothCores(async () => {
    await untilFolded(installation)
    await sleep(closeDaysEveryMs + statusEveryMs)
    await installation.untilQuiet(quietWithinMs)
  })
}

/**
 * Counts the seeded events, those in the overviews of their workspaces, and the stored ones.
 * @param days of the overview: enough for all of the seed
 */
export async function countSeeded(
  installation: Installation,
  { events, workspaces }: SeedResult,
  days: number,
): Promise<EventCounts> {
  let acknowledged = 0
  let stored = 0
  let distinct = 0
  for (const { api_key, workspace_id } of workspaces) {
    acknowledged += (await readOverview(installation, api_key, days)).events
    // One workspace at a time: the ids of 100 M events take more memory than a query may.
    const [row] = await installation.ch.query<{ rows: number; distinct: number }>(
      'SELECT count() AS rows, uniqExact(id) AS distinct FROM events WHERE workspace_id = {workspace:UInt32}',
      { workspace: workspace_id },
      { deadlineMs: 120_000 },
    )
    stored += row!.rows
    distinct += row!.distinct
  }
  return { sent: events, acknowledged, stored, repeated: stored - distinct }
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
