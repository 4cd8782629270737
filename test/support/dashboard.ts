/** The dashboard in Chromium: signed in as the owner, and looked at by axe. */
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { createSignInLink } from '../../postgres/tables/owner-sessions.ts'
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

/** Called once in a file; each test signs in anew. */
export function setUpDashboard({ stores, api, mine }: Served) {
  let browser: Awaited<ReturnType<typeof sharedBrowser>>
  let context: BrowserContext | undefined
  beforeAll(async () => {
    browser = await sharedBrowser()
  }, browserWithinMs)
  afterEach(() => context?.close())

  return async function signIn(test: Parameters<typeof demand>[1]): Promise<Page> {
    context = await (await demand(browser, test)).newContext({ viewport: { width: 1280, height: 900 } })
    context.setDefaultTimeout(playwrightWithinMs)
    const page = await context.newPage()
    const token = await createSignInLink(stores.pg, mine.workspaceId, Date.now())
    await page.goto(`${api.url}/dashboard/sign-in?token=${token}`)
    return page
  }
}

/** Goes by G and a second key. They are sent together: a slow machine would outlast the time between them. */
export async function goBy(page: Page, key: string): Promise<void> {
  await Promise.all([page.keyboard.press('g'), page.keyboard.press(key)])
}

/** The part of a page with that name. */
export const list = (title: string) => `section[aria-label="${title}"]`

/** Waits until a card of the overview has that value. */
export const card = (page: Page, name: string, value: string) =>
  page.waitForSelector(`[data-card="${name}"] strong:text-is("${value}")`)

/** The name and the lines of the file that a click saves. */
export async function savedFile(page: Page, clicked: string): Promise<{ name: string; lines: string[] }> {
  const saved = page.waitForEvent('download')
  await page.click(clicked)
  const file = await saved
  const content = await text((await file.createReadStream()) as Readable)
  return { name: file.suggestedFilename(), lines: content.split('\r\n') }
}

/** From the next page on nothing is asked for again by itself: whatever a change shows, it shows at once. */
export async function withoutPolls(page: Page): Promise<void> {
  await page.addInitScript(`{
    const { setTimeout } = window
    window.setTimeout = (call, ms, ...rest) => (ms < 5_000 || ms === undefined ? setTimeout(call, ms, ...rest) : 0)
  }`)
}

/**
 * In the dialog alone where one is open, because the page behind it is out of reach, and is looked at without it. By the
 * debugger's own door: the policy of the page lets no script in.
 */
export async function violations(page: Page): Promise<unknown> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe)
  return page.evaluate(
    `axe.run([...document.querySelectorAll('dialog[open]')].at(-1) ?? document, { resultTypes: ['violations'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  )
}

/** In short axe sees each theme and each layout once: a theme changes colours alone, and the middle width no layout. */
const looks = (['dark', 'light'] as const)
  .flatMap((colorScheme) => [390, 768, 1280].map((width) => ({ colorScheme, width, hasAxe: isLong || width !== 768 })))
  .filter(({ colorScheme, width }) => isLong || (colorScheme === 'dark') === (width === 390))

/** Nothing is beside the screen, or below the page's content. */
const fits = `document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <=
  Math.max(innerHeight, Math.ceil(scrollY + document.querySelector('main').getBoundingClientRect().bottom))`

/** In each look no page is wider than the screen, and axe finds nothing. The long form keeps pictures in `.cache/test`. */
export async function look(page: Page, name: string): Promise<void> {
  if (isLong) mkdirSync(projectFile('.cache/test'), { recursive: true })
  for (const { colorScheme, width, hasAxe } of looks) {
    const message = `${name}, ${colorScheme}, ${width} pixels wide`
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    // A chart takes its new width a moment later.
    const isFitting = () => page.evaluate(fits)
    await expect.poll(isFitting, { message }).toBe(true)
    if (hasAxe) expect(await violations(page), message).toEqual([])
    const path = projectFile('.cache/test', `dashboard-${name}-${colorScheme}-${width}.png`)
    if (isLong) await page.screenshot({ path, fullPage: true })
  }
}
