/**
 * The dashboard in Chromium, over a workspace with half of all events. Measures the time until it shows, until a filter
 * shows, and the browser's work while events come in. No question is asked twice: each load has days of its own, each
 * filter another row.
 */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { projectFile } from '../../runtime/paths.ts'
import { sleep } from '../../runtime/retry.ts'
import { dashboardGzipBytesMax } from '../../schemas/limits/script-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { findBrowser } from '../../test/support/find-browser.ts'
import type { BenchSettings, Figure, ScenarioResult } from '../bench.ts'
import { countSeeded, seed, untilSettled } from '../data/seeded.ts'
import { startTrickle } from '../data/trickle.ts'
import { allServices, Installation } from '../installation.ts'
import { latencyOf } from '../load/latency.ts'
import { onBoth } from '../measure/cores.ts'

const shape = { workspaces: 2, days: 30 }
const loads = 12
const filters = 12
/** Lists whose rows are clicked in turn. */
const lists = ['Sources', 'Pages', 'Countries', 'Devices']
/** So often the page is asked whether its figures are there, and for so long. */
const askEveryMs = 20
const patienceMs = 30_000
/** Figures of the first load are there by then. */
const settleMs = 3_000

export async function dashboard(settings: BenchSettings): Promise<ScenarioResult> {
  const events = settings.sizes.at(-1)!
  const installation = await Installation.start(settings.cores, { services: allServices, side: 'both' })
  const browser = await launch()
  try {
    const seeded = await seed(installation, { events, ...shape })
    await untilSettled(installation)
    const counts = await countSeeded(installation, seeded, shape.days + 1)
    const { workspace_id: id, tracking_key } = seeded.workspaces[0]!
    const page = await signIn(browser, installation, id)
    const [paints, shown] = await measureLoads(page, settings.isShort ? 2 : loads)
    const filtered = await measureFilters(page, settings.isShort ? 2 : filters)
    const seconds = settings.isShort ? 6 : settings.sustainedSeconds
    const live = await measureLive(page, seconds, () => startTrickle(installation, [tracking_key]))
    return {
      figures: [
        p95Figure(`p95 of the first paint, ${events} events`, paints, 1_000),
        p95Figure(`p95 until all figures are painted, ${events} events`, shown, 1_000),
        p95Figure(`p95 from a click on a row to the filtered figures, ${events} events`, filtered, 300),
        {
          measure: `longest task while live, ${seconds} s`,
          value: Math.max(0, ...live.longTasks),
          unit: 'ms',
          goal: 50,
        },
        {
          measure: `heap at the end of these ${seconds} s less that at their begin`,
          value: live.grownMb,
          unit: 'MB',
          goal: 1,
        },
        {
          measure: 'script and style before the first chart, gzip',
          value: firstBytes(),
          unit: 'B',
          goal: dashboardGzipBytesMax,
        },
      ],
      counts,
      remarks: [
        `While live, an event a second came; ${live.updates} answers changed the page, ${live.longTasks.length} tasks took over 50 ms. The heap was ${live.heapMb} MB at the begin.`,
        'Sent are the events seeded. Tasks of up to 50 ms count as none.',
      ],
      ...onBoth(settings.cores),
      settings: { events, ...shape, loads, filters, seconds },
      rounds: [{ paints, shown, filtered, live }],
    }
  } finally {
    await browser.close()
    await installation.stop()
  }
}

async function launch(): Promise<Browser> {
  const found = await findBrowser((line) => process.stdout.write(`  ${line}\n`))
  if (typeof found === 'string') throw new Error(found)
  const env = { ...process.env, ...found.env } as Record<string, string>
  const args = ['--disable-dev-shm-usage', '--disable-gpu']
  return chromium.launch({ executablePath: found.executable, env, channel: 'chromium', headless: true, args })
}

/** Notes in each page of the browser when the figures were there and painted. */
const noteFigures = `new MutationObserver((_, watching) => {
  if (!document.querySelector('[data-card="visitors"]') || !document.querySelector('.chart canvas')) return
  watching.disconnect()
  requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.shownAt = performance.now() }))
}).observe(document, { childList: true, subtree: true })`

async function signIn(browser: Browser, installation: Installation, workspaceId: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  await page.addInitScript(noteFigures)
  const token = await createSignInLink(installation.pg, workspaceId, Date.now())
  await page.goto(`http://127.0.0.1:${installation.service('api').port}/dashboard/sign-in?token=${token}`)
  await untilShown(page)
  return page
}

/** @returns when the page noted that its figures are there. Its policy lets no script of ours wait inside of it. */
async function untilShown(page: Page): Promise<number> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(askEveryMs)) {
    const shownAt = await page.evaluate<number | undefined>('globalThis.shownAt')
    if (shownAt !== undefined) return shownAt
    if (Date.now() > deadline) throw new Error(`no figures within ${patienceMs} ms`)
  }
}

/** Milliseconds from the navigation to the first paint, and to all figures; the files are in the browser's cache. */
async function measureLoads(page: Page, count: number): Promise<[number[], number[]]> {
  const paints: number[] = []
  const shown: number[] = []
  for (let load = 0; load < count; load++) {
    const day = (before: number) => new Date(Date.now() - before * dayMs).toISOString().slice(0, 10)
    const range = new URLSearchParams({ start: day(28 - (load % 20)), end: day(load < 20 ? 0 : 1) })
    await page.goto(new URL(`/dashboard?${range}`, page.url()).href)
    shown.push(await untilShown(page))
    paints.push(await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
  }
  return [paints, shown]
}

/** Milliseconds from the click on a row to the frame that has the figures of its filter. */
async function measureFilters(page: Page, count: number): Promise<number[]> {
  const took: number[] = []
  for (let at = 0; took.length < count; at++) {
    const place = { list: lists[at % lists.length]!, row: Math.floor(at / lists.length) }
    if (place.row > count) throw new Error('the lists have too few rows to filter by')
    await page.goto(new URL('/dashboard?days=30', page.url()).href)
    await untilShown(page)
    const ms = await page.evaluate<number | null>(`(${clickRow})(${JSON.stringify(place)})`)
    if (ms !== null) took.push(ms)
  }
  return took
}

/** Runs in the page. The page says that it is busy from the click to the answer. */
const clickRow = `({ list, row }) => new Promise((done, fail) => {
  setTimeout(() => fail(new Error('no figures of the filter within ${patienceMs} ms')), ${patienceMs})
  const button = document.querySelectorAll('section[aria-label="' + list + '"] button.row')[row]
  if (!button) return done(null)
  const main = document.querySelector('main')
  const startedAt = performance.now()
  let wasBusy = false
  new MutationObserver((_, watching) => {
    wasBusy ||= main.ariaBusy === 'true'
    if (!wasBusy || main.ariaBusy === 'true') return
    watching.disconnect()
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - startedAt)))
  }).observe(main, { attributes: true })
  button.click()
})`

interface Live {
  readonly longTasks: readonly number[]
  readonly updates: number
  readonly heapMb: number
  readonly grownMb: number
}

/** The page's work while events come in and its figures follow. */
async function measureLive(page: Page, seconds: number, startEvents: () => () => Promise<unknown>): Promise<Live> {
  await page.goto(new URL('/dashboard?days=1', page.url()).href)
  await untilShown(page)
  const session = await page.context().newCDPSession(page)
  const heapMb = async () => {
    await session.send('HeapProfiler.collectGarbage')
    return (await session.send('Runtime.getHeapUsage')).usedSize / 2 ** 20
  }
  const endEvents = startEvents()
  await page.waitForTimeout(settleMs)
  const before = await heapMb()
  await page.evaluate(`{
    globalThis.longTasks = []
    globalThis.updates = 0
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })
    new MutationObserver(() => { updates++ }).observe(document.querySelector('[data-card="pageviews"] strong'), { characterData: true, childList: true, subtree: true })
  }`)
  await page.waitForTimeout(seconds * 1_000)
  const { longTasks, updates } = await page.evaluate<Pick<Live, 'longTasks' | 'updates'>>('({ longTasks, updates })')
  await endEvents()
  if (updates === 0) throw new Error('no event reached the page: nothing was measured')
  return { longTasks, updates, heapMb: Math.round(before * 10) / 10, grownMb: (await heapMb()) - before }
}

/** By gzip, as the bound of the page is. */
function firstBytes(): number {
  const read = (name: string) => readFileSync(projectFile('web/generated/dashboard', name))
  const { script, style, chunks } = JSON.parse(read('bundle.json').toString()) as Record<'script' | 'style', string> & {
    readonly chunks: readonly string[]
  }
  return [script, style, ...chunks].reduce((sum, name) => sum + gzipSync(read(name)).length, 0)
}

function p95Figure(measure: string, milliseconds: readonly number[], goal: number): Figure {
  const latency = latencyOf(milliseconds)
  return { measure, value: latency.p95, unit: 'ms', goal, latency }
}
