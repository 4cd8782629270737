/** The ingest node that runs, by what it says of itself. */
import { backlogWarnMs, probeDeadlineMs } from '../../schemas/limits/doctor-limits.ts'
import type { Installation } from '../installation.ts'
import { bytesText, durationText, type Finding, failed, lineOf, ok, warning } from './finding.ts'

interface Health {
  readonly reason: string | null
  readonly backlog: Readonly<Record<string, { bytes: number; oldest_seconds: number }>>
}

/** @param named an ingest node's own root, in place of what is found */
export async function examineIngest(installation: Installation, named: string | undefined): Promise<Finding[]> {
  const own = named ?? installation.runningIngestUrl()?.replace(/\/api\/v1\/growth$/, '')
  const root = own ?? installation.config.apiHost
  if (root === undefined) {
    return [warning('ingest', 'none was asked: name a node by --ingest-url http://HOST:PORT, or set API_HOST')]
  }
  const findings = [await health(root)]
  if (findings[0]!.outcome !== 'failed') findings.push(await window(root, installation.config.dedupWindowHours))
  return findings
}

async function health(root: string): Promise<Finding> {
  let answer: Health
  try {
    answer = JSON.parse(await get(`${root}/api/v1/growth/health`)) as Health
    if (typeof answer.backlog !== 'object') throw new Error("what answers there isn't ingest")
  } catch (error) {
    return failed('ingest', `no health from ${root}: ${reasonOf(error)}; see whether it runs, and its log`)
  }
  if (answer.reason !== null) return failed('ingest', `refuses events: ${answer.reason}`)
  const streams = Object.values(answer.backlog)
  const bytes = streams.reduce((sum, stream) => sum + stream.bytes, 0)
  const oldestMs = Math.max(0, ...streams.map((stream) => stream.oldest_seconds * 1000))
  const text = `takes events; ${bytesText(bytes)} wait for the stores, the oldest for ${durationText(oldestMs)}`
  if (oldestMs <= backlogWarnMs) return ok('ingest', text)
  return warning('ingest', `${text}: a store is away or too slow, see ingest's log`)
}

/** For how long this node knows client event ids by itself, and whether that will grow to the whole window. */
async function window(root: string, windowHours: number): Promise<Finding> {
  let text: string
  try {
    text = await get(`${root}/metrics`)
  } catch (error) {
    return warning('dedup.node', `no metrics from ${root}: ${reasonOf(error)}`)
  }
  const held = readMetric(text, 'ingest_dedup_window_held_hours')
  const startedAt = readMetric(text, 'process_start_time_seconds')
  if (held === undefined || startedAt === undefined) {
    return warning('dedup.node', `${root} has no metrics of ingest: name a node by --ingest-url http://HOST:PORT`)
  }
  const shown = Math.round(held * 10) / 10
  if (held >= windowHours) return ok('dedup.node', `the node knows client event ids for ${windowHours} hours`)
  const upHours = (Date.now() / 1000 - startedAt) / 3600
  const known = `the node knows client event ids for ${shown} of ${windowHours} hours`
  if (held >= upHours * 0.9 - 0.1) return ok('dedup.node', `${known}, and growing since its start`)
  return warning('dedup.node', `${known}, and forgets older ones: raise DEDUP_LOCAL_ENTRIES`)
}

/** The smallest of its values, where several threads have one each. */
function readMetric(text: string, name: string): number | undefined {
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].map((match) =>
    Number(match[1]),
  )
  return values.length === 0 ? undefined : Math.min(...values)
}

/** The text, of a refusing ingest as well. */
async function get(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(probeDeadlineMs), redirect: 'error' })
  const text = await response.text()
  if (response.ok || text.includes('"backlog"')) return text
  throw new Error(`status ${response.status}`)
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as Error
  if (name === 'TimeoutError') return 'no answer in time'
  // The error that fetch itself throws says nothing.
  return lineOf(cause ?? error)
}
