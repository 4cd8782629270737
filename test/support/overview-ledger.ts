/** The overview of a product held against a ledger: while events come in by what was acknowledged, afterwards by what is stored. */
import { expect, vi } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { leaseSilentMs } from '../../schemas/limits/figure-limits.ts'
import type { Ledger, Told } from './ledger.ts'
import type { Overview } from './overview.ts'
import type { RunningProduct } from './product.ts'
import { isLong } from './short-form.ts'

const askEveryMs = isLong ? 1_000 : 700
const patience = { timeout: 60_000, interval: 250 }

/** Holds each answer until then against what was said of events, and adds the moments as of which answers were. */
export async function holdOverviews(
  running: RunningProduct,
  ledger: Ledger,
  moments: Set<string>,
  until: AbortSignal,
): Promise<void> {
  while (!until.aborted) {
    const overview = await askOverview(running, 3)
    if (overview !== undefined) {
      holdAnswer(ledger, overview)
      moments.add(overview.metrics.as_of)
    }
    await sleep(askEveryMs)
  }
}

/** The figures of all events, once they are of a moment after the last one was acknowledged. */
export async function expectOverview(running: RunningProduct, stored: readonly Told[]): Promise<void> {
  const now = Date.now()
  const overview = await vi.waitUntil(async () => {
    const answer = await askOverview(running, 4)
    return answer !== undefined && Date.parse(answer.metrics.as_of) > now && answer
  }, patience)
  const { counts, pages } = countsOf(stored, 0)
  expect(overview.metrics).toMatchObject(counts)
  expect(Object.fromEntries(overview.top_pages.map(({ path, pageviews }) => [path, pageviews]))).toEqual(pages)
}

/** Undefined where it isn't answered: a store may be away. */
async function askOverview(running: RunningProduct, days: number): Promise<Overview | undefined> {
  const { base_url, api_key } = running.product.dev
  const headers = { Authorization: `Bearer ${api_key}` }
  try {
    const answer = await fetch(`${base_url}/analytics/overview?days=${days}`, { headers })
    if (answer.ok) return (await answer.json()) as Overview
    expect(answer.status).toBeGreaterThanOrEqual(500)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  return undefined
}

/** Counts from the events at or after `start`. */
function countsOf(events: Iterable<Told>, start: number) {
  const [visitors, named, pages] = [new Set<unknown>(), new Set<string>(), new Map<string, number>()]
  const counts = { visitors: 0, sessions: 0, events: 0, pageviews: 0, conversions: 0 }
  for (const { content } of events) {
    const { anonymous_id, session_id, event_name, event_type, occurred_at, url } = content
    if (occurred_at !== undefined && Date.parse(String(occurred_at)) < start) continue
    counts.events++
    if (event_type === 'conversion') counts.conversions++
    if (event_name === 'pageview') {
      const { pathname } = new URL(String(url))
      counts.pageviews++
      pages.set(pathname, (pages.get(pathname) ?? 0) + 1)
    }
    // A server's event has neither.
    if (anonymous_id === undefined) continue
    visitors.add(anonymous_id)
    named.add(`${anonymous_id} ${session_id}`)
  }
  return { counts: { ...counts, visitors: visitors.size, sessions: named.size }, pages: Object.fromEntries(pages) }
}

/** Where ingest takes longer than this to come back, `as_of` doesn't wait for what it had acknowledged and not shipped. */
const silenceMs = 0.8 * leaseSilentMs
/** After that it has shipped it. */
const caughtUpMs = 30_000

function wasSilentBefore(moment: number, answered: readonly number[]): boolean {
  const times = [...answered, moment].sort((a, b) => a - b)
  return times.some((time, at) => time > moment - caughtUpMs && time - (times[at - 1] ?? time) > silenceMs)
}

/** Holds an answer against what was said of the events until then. */
function holdAnswer({ told }: Ledger, { metrics, top_pages }: Overview): void {
  const asOf = Date.parse(metrics.as_of)
  const start = Date.parse(metrics.range.start)
  const acknowledged = [...told.values()].filter(({ answeredAt }) => answeredAt !== null && answeredAt < asOf)
  const answered = acknowledged.map(({ answeredAt }) => answeredAt!)
  const least = countsOf(wasSilentBefore(asOf, answered) ? [] : acknowledged, start)
  const most = countsOf(told.values(), start)
  for (const { path, pageviews } of top_pages) {
    expect(pageviews, `${path} as of ${metrics.as_of}`).toBeGreaterThanOrEqual(least.pages[path] ?? 0)
    expect(pageviews, `${path} as of ${metrics.as_of}`).toBeLessThanOrEqual(most.pages[path] ?? 0)
  }
  for (const name of ['visitors', 'pageviews', 'events', 'conversions'] as const) {
    expect(metrics[name], `${name} as of ${metrics.as_of}`).toBeGreaterThanOrEqual(least.counts[name])
    expect(metrics[name], `${name} as of ${metrics.as_of}`).toBeLessThanOrEqual(most.counts[name])
  }
}
