/** The dashboard in Chromium: signed in as the owner, and looked at by axe. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { projectFile } from '../../runtime/paths.ts'
import { browserWithinMs, demand, sharedBrowser } from './browser.ts'
import { isLong } from './short-form.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** As long as `expect.poll` waits: machines have been twenty times as slow for minutes. */
export const playwrightWithinMs = 60_000

interface Served {
  readonly stores: { readonly pg: Postgres }
  readonly api: { readonly url: string }
  readonly mine: { readonly workspaceId: number }
}

export interface SignInOptions {
  /** Root of another API on the same stores. */
  readonly at?: string
  /** Called with the page before it loads anything. */
  readonly before?: (page: Page) => Promise<unknown>
}

/**
 * Called once in a file. Each test signs in anew, in a window of its own, at the page of the dashboard that it begins
 * with. The windows share a context, whose start and empty caches took a third of the processor's time of a sign-in.
 */
export function setUpDashboard({ stores, api, mine }: Served) {
  let browser: Awaited<ReturnType<typeof sharedBrowser>>
  let context: BrowserContext | undefined
  beforeAll(async () => {
    browser = await sharedBrowser()
  }, browserWithinMs)
  afterEach(async () => {
    await Promise.all((context?.pages() ?? []).map((page) => page.close()))
  })
  afterAll(() => browser?.close())

  return async function signIn(
    test: Parameters<typeof demand>[1],
    path = '/dashboard',
    { at = api.url, before }: SignInOptions = {},
  ): Promise<Page> {
    context ??= await (await demand(browser, test)).newContext({ viewport: { width: 1280, height: 900 } })
    context.setDefaultTimeout(playwrightWithinMs)
    await context.clearCookies()
    const page = await context.newPage()
    await before?.(page)
    const token = await createSignInLink(stores.pg, mine.workspaceId, Date.now())
    await page.goto(`${at}/dashboard/sign-in?token=${token}&${new URLSearchParams({ next: path })}`)
    return page
  }
}

/** Goes by G and a second key. They are sent together: a slow machine would outlast the time between them. */
export async function goBy(page: Page, key: string): Promise<void> {
  await Promise.all([page.keyboard.press('g'), page.keyboard.press(key)])
}

/** Goes to another page as Back and Forward do: one that is loaded anew takes several times as long. */
export async function goWithin(page: Page, address: string): Promise<void> {
  // It listens from the moment on at which this is seen.
  await page.waitForSelector('nav')
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

/** The part of a page with that name. */
export const list = (title: string) => `section[aria-label="${title}"]`

/** Waits until a card of the overview has that value. */
export const card = (page: Page, name: string, value: string) =>
  page.waitForSelector(`[data-card="${name}"] strong:text-is("${value}")`)

/** The texts of a table's cells, row by row. */
export const cellsOf = (page: Page, rows: string) =>
  page.$$eval(rows, (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)))

/** The name and the lines of the file that a click saves. */
export async function savedFile(page: Page, clicked: string): Promise<{ name: string; lines: string[] }> {
  const saved = page.waitForEvent('download')
  await page.click(clicked)
  const file = await saved
  const content = await text((await file.createReadStream()) as Readable)
  return { name: file.suggestedFilename(), lines: content.split('\r\n') }
}

/** All that is shown is asked for anew, as after the network's return: sooner than by itself. */
export const askAnew = (page: Page) => page.evaluate(`dispatchEvent(new Event('online'))`)

/**
 * @param times how many are held: all when left out
 * @returns lets those requests of an address go on that come from now on: until then none does
 */
export async function holdRequests(page: Page, address: string, times?: number): Promise<() => void> {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  // A page that is left has none any more.
  const goOn = (route: Route) => held.then(() => route.continue()).catch(() => undefined)
  await page.route(address, goOn, times === undefined ? {} : { times })
  return letGo
}

/** From the next page on nothing is asked for again by itself: whatever a change shows, it shows at once. */
export async function withoutPolls(page: Page): Promise<void> {
  await page.addInitScript(`{
    const { setTimeout } = window
    window.setTimeout = (call, ms, ...rest) => (ms < 5_000 || ms === undefined ? setTimeout(call, ms, ...rest) : 0)
  }`)
}

/** From the next page on the browser's clock is ahead of the server's. */
export const withClockAhead = (page: Page, ms: number) =>
  page.addInitScript(`{
    const now = () => Date.now() + ${ms}
    const { Date } = window
    window.Date = class extends Date {
      static now = now
      constructor(...given) { super(...(given.length === 0 ? [now()] : given)) }
    }
  }`)

/** Rules of axe whose verdict depends on colours or on the layout. The others read the document, which no look changes. */
const rulesOfLooks = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable']

/**
 * In the dialog alone where one is open, because the page behind it is out of reach, and is looked at without it. By the
 * debugger's own door: the policy of the page lets no script in.
 * @param part a selector
 */
export async function violations(page: Page, rules?: readonly string[], part?: string): Promise<unknown> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  const whole = part === undefined ? 'document' : `document.querySelector(${JSON.stringify(part)})`
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  return page.evaluate(
    `axe.run([...document.querySelectorAll('dialog[open]')].at(-1) ?? ${whole}, ${options})
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  )
}

type Axe = 'all rules' | 'rules of looks' | 'none'

/**
 * In short axe sees each theme and each of two layouts once; the middle width has that of the wide one. All rules are
 * asked about the wide one, which hides nothing that the narrow one shows.
 */
const looks = (['dark', 'light'] as const)
  .flatMap((colorScheme) => [390, 768, 1280].map((width) => ({ colorScheme, width, asked: axeOf(width) })))
  .filter(({ colorScheme, width }) => isLong || (colorScheme === 'dark') === (width === 390))

function axeOf(width: number): Axe {
  if (isLong || width === 1280) return 'all rules'
  return width === 390 ? 'rules of looks' : 'none'
}

/** Nothing is beside the screen, or below the page's content. */
const fits = `document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <=
  Math.max(innerHeight, Math.ceil(scrollY + document.querySelector('main').getBoundingClientRect().bottom))`

/**
 * In each look no page is wider than the screen, and axe finds nothing. The long form keeps pictures in `.cache/test`.
 * @param part in short axe sees this part alone, as another test shows it the rest of the page
 */
export async function look(page: Page, name: string, part?: string): Promise<void> {
  if (isLong) mkdirSync(projectFile('.cache/test'), { recursive: true })
  for (const { colorScheme, width, asked } of looks) {
    const message = `${name}, ${colorScheme}, ${width} pixels wide`
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    // A chart takes its new width a moment later.
    const isFitting = () => page.evaluate(fits)
    await expect.poll(isFitting, { message }).toBe(true)
    const rules = asked === 'all rules' ? undefined : rulesOfLooks
    if (asked !== 'none') expect(await violations(page, rules, isLong ? undefined : part), message).toEqual([])
    const path = projectFile('.cache/test', `dashboard-${name}-${colorScheme}-${width}.png`)
    if (isLong) await page.screenshot({ path, fullPage: true })
  }
}
