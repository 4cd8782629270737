/**
 * How long a script holds the main thread at a time, from the browser's own trace. In time of the thread, not of the
 * clock: what else the machine does isn't the script's. The browser's own emulation of a slow processor isn't used: it
 * makes the thread spin in proportion to the clock. On a busy machine that adds the time in which other processes ran.
 */
import type { Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  readonly tdur?: number
  readonly args?: { readonly data?: { readonly url?: string } }
}

const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8.compile', 'toplevel']

/**
 * Does `work` with the page.
 * @returns for each of the scripts, by a part of its address, the milliseconds of its longest task, those of its parts
 *   within a task of the browser together, and how many of its tasks there were
 */
export async function longestTasksOf(
  page: Page,
  scripts: readonly string[],
  work: () => Promise<void>,
): Promise<{ longestMs: number; tasks: number }[]> {
  const session = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: categories, excludedCategories: ['*'] },
  })
  await work()
  await session.send('Tracing.end')
  await complete
  await session.detach()
  return scripts.map((script) => {
    const durations = tasksOf(events, script)
    return { longestMs: Math.max(0, ...durations), tasks: durations.length }
  })
}

/** Milliseconds of the script in each of the browser's tasks that it has a part in. */
function tasksOf(events: readonly TraceEvent[], script: string): number[] {
  const whole = events.filter(({ ph, dur }) => ph === 'X' && dur !== undefined)
  const parts = whole.filter(({ args }) => args?.data?.url?.includes(script))
  // The trace has all processes of the browser, and those of other tests' pages.
  const threads = new Set(parts.map(threadOf))
  const tasks = whole.filter((event) => event.name === 'RunTask' && threads.has(threadOf(event)))
  const outermost = parts.filter((part) => !parts.some((other) => other !== part && holds(other, part)))
  return tasks
    .map((task) => outermost.filter((part) => holds(task, part)))
    .filter((own) => own.length > 0)
    .map((own) => own.reduce((sum, { tdur, dur }) => sum + (tdur ?? dur)!, 0) / 1000)
}

const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`

function holds(outer: TraceEvent, inner: TraceEvent): boolean {
  if (threadOf(outer) !== threadOf(inner) || outer.ts > inner.ts || outer.ts + outer.dur! < inner.ts + inner.dur!)
    return false
  // Among two equally long tasks the one that was noted first is the outer one.
  return outer.ts !== inner.ts || outer.dur !== inner.dur || outer.tdur! >= inner.tdur!
}
