/** A visit to a made-up site that has the snippet, and what became of it: on the network, in the rows, in the overview. */
import type { BrowserContext, Page } from 'playwright-core'
import { expect, type TestContext } from 'vitest'
import type { TestWorkspace } from './api.ts'
import { demand } from './browser.ts'
import { type Network, openNetwork, type SeenRequest, type Site, type SiteAnswer } from './network.ts'
import type { Overview } from './overview.ts'
import { productHost, productRoot, type TrackingSurface } from './tracking-surface.ts'

/** An event as a page sent it, with what is known of its sending. */
interface SentEvent {
  readonly event_name: string
  readonly event_type?: string
  readonly client_event_id?: string
  readonly anonymous_id?: string
  readonly session_id?: string
  readonly email?: string
  readonly url?: string
  readonly referrer?: string
  readonly title?: string
  readonly properties?: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

interface Sending {
  readonly event: SentEvent
  readonly by: 'beacon' | 'fetch'
  readonly request: SeenRequest
}

/** Columns of a stored event that tests look at. */
export interface StoredEvent {
  readonly event_name: string
  readonly event_type: string
  readonly anonymous_id: string
  readonly client_event_id: string
  readonly visitor: string
  readonly session: string
  readonly email_hash: string
  readonly path: string
  readonly url: string
  readonly title: string
  readonly referrer: string
  readonly source: string
  readonly medium: string
  readonly campaign: string
  readonly content: string
  readonly metric_value: number
  readonly engagement_ms: number
  readonly scroll_depth: number
  readonly screen_width: number
  readonly language: string
  readonly timezone: string
  readonly properties: Readonly<Record<string, unknown>>
}

export interface VisitOptions {
  /** Flags of the snippet: `require_consent=true`. */
  readonly flags?: string
  readonly workspace?: TestWorkspace
}

export interface Visit {
  readonly workspace: TestWorkspace
  readonly context: BrowserContext
  readonly page: Page
  readonly network: Network
  /** The address of the script. */
  readonly scriptUrl: string
  /** The snippet as the site's owner pastes it. */
  readonly snippet: string
  /** Complaints of pages: errors that nobody caught, and refusals of the policy. */
  readonly complaints: readonly string[]
  /** Makes a site of pages by path; each has the snippet in its head unless it says otherwise. */
  site(host: string, pages: Readonly<Record<string, SitePage>>): void
  sendings(): Sending[]
  /** Events that were sent and answered 202, by name where one is given. */
  sent(name?: string): SentEvent[]
  /** Waits until as many of that name were sent and answered. */
  expectSent(name: string, count?: number): Promise<SentEvent[]>
  /** Stored events of the workspace, in the order of ids, once all that was answered is stored. */
  stored(name?: string): Promise<StoredEvent[]>
  overview(): Promise<Overview>
}

export interface SitePage extends SiteAnswer {
  readonly title?: string
  /** In the head, in front of the snippet. */
  readonly head?: string
  readonly main?: string
  /** In place of the workspace's own snippet. */
  readonly snippet?: string
}

/** The site that most tests visit. */
export const shop = 'shop.localhost'
export const root = `http://${shop}`

const settleMs = 150
/** As long as `expect.poll` waits. */
const playwrightWithinMs = 60_000

/** Begins one; it ends with the test. It needs a browser: see `demand`. */
export async function startVisit(
  surface: TrackingSurface,
  test: Pick<TestContext, 'skip' | 'onTestFinished'>,
  options: VisitOptions = {},
): Promise<Visit> {
  const browser = await demand(surface.browser, test)
  const workspace = options.workspace ?? (await surface.makeWorkspace())
  const network = await openNetwork({ [productHost]: surface.front.port })
  const context = await browser.newContext({
    proxy: { server: `http://127.0.0.1:${network.port}`, bypass: '<-loopback>' },
    viewport: { width: 1200, height: 800 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  test.onTestFinished(async () => {
    await context.close()
    await network.close()
  })
  const complaints: string[] = []
  context.on('weberror', (error) => complaints.push(error.error().message))
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  context.setDefaultTimeout(playwrightWithinMs)
  const page = await context.newPage()
  const flags = options.flags === undefined ? '' : `&${options.flags}`
  const scriptUrl = `${productRoot}/svc.js?key=${workspace.trackingKey}${flags}`
  const snippet = `<script async src="${scriptUrl.replaceAll('&', '&amp;')}"></script>`

  const sendings = () => network.seen.flatMap(sendingsOf)
  const sent = (name?: string) =>
    sendings()
      .filter(({ request, event }) => request.status === 202 && (name === undefined || event.event_name === name))
      .map(({ event }) => event)
  return {
    workspace,
    context,
    page,
    network,
    scriptUrl,
    snippet,
    complaints,
    sendings,
    sent,
    site: (host, pages) => network.serve(host, siteOf(pages, snippet)),
    expectSent: async (name, count = 1) => {
      await expect.poll(() => sent(name).length, { message: `${name} sent` }).toBeGreaterThanOrEqual(count)
      // One more than expected would come now.
      await new Promise((resolve) => setTimeout(resolve, settleMs))
      expect(sent(name), `${name} sent`).toHaveLength(count)
      return sent(name)
    },
    stored: async (name) => {
      await surface.shipped()
      const rows = await readEvents(surface, workspace.workspaceId)
      return rows.filter(({ event_name }) => name === undefined || event_name === name)
    },
    overview: () => surface.overview(workspace),
  }
}

/** A visit of the shop's first page, whose pageview was sent. */
export async function visitShop(
  surface: TrackingSurface,
  test: Pick<TestContext, 'skip' | 'onTestFinished'>,
  pages: Readonly<Record<string, SitePage>> = { '/': {} },
  options: VisitOptions = {},
): Promise<Visit> {
  const visit = await startVisit(surface, test, options)
  visit.site(shop, pages)
  await visit.page.goto(`${root}/`)
  await visit.expectSent('pageview')
  return visit
}

/** Waits until the page has its second file: what is done from then on, that file sees at once. */
export async function untilLate({ page }: Pick<Visit, 'page'>): Promise<void> {
  // One evaluation, as policies of pages let in no other. The page itself asked for the file earlier, and has it earlier.
  await page.evaluate(`(async () => {
    for (;;) {
      const late = performance.getEntriesByType('resource').find(({ name }) => name.includes('late='))
      if (late) return void (await import(late.name.replace(/#.*/, '') + '#0'))
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()`)
}

/** Waits until the browser has noted a measurement of that type that fits. @param fits a function of an entry, as text */
export async function untilNoted({ page }: Pick<Visit, 'page'>, type: string, fits = '() => true'): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const look = (list) => list.getEntries().some(${fits}) && resolve()
    new PerformanceObserver(look).observe({ type: '${type}', buffered: true })
  })`)
}

function siteOf(pages: Readonly<Record<string, SitePage>>, ownSnippet: string): Site {
  return ({ url }) => {
    const page = pages[url.pathname]
    if (page === undefined) return { status: 404, body: 'not found' }
    const { title = url.pathname, head = '', main = '', snippet = ownSnippet, headers, ...answer } = page
    const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<link rel="icon" href="data:,">${head}${snippet}</head><body>${main}</body></html>`
    return { body, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers }, ...answer }
  }
}

function sendingsOf(request: SeenRequest): Sending[] {
  if (request.method !== 'POST' || !request.url.pathname.startsWith('/api/v1/growth/track')) return []
  const by = request.headers['sec-fetch-mode'] === 'no-cors' ? 'beacon' : 'fetch'
  const body = JSON.parse(request.body) as SentEvent & { events?: SentEvent[] }
  return (body.events ?? [body]).map((event) => ({ event, by, request }))
}

async function readEvents({ ch }: TrackingSurface, workspaceId: number): Promise<StoredEvent[]> {
  const rows = await ch.query<Omit<StoredEvent, 'properties'> & { properties: string }>(
    `SELECT event_name, event_type, anonymous_id, client_event_id, toString(visitor) AS visitor,
       toString(session) AS session, toString(email_hash) AS email_hash, path, url, title, referrer, source, medium,
       campaign, content, metric_value, engagement_ms, scroll_depth, screen_width, language, timezone, properties
     FROM events WHERE workspace_id = {workspaceId:UInt32} ORDER BY id`,
    { workspaceId },
  )
  return rows.map((row) => ({
    ...row,
    properties: row.properties === '' ? {} : (JSON.parse(row.properties) as Record<string, unknown>),
  }))
}

/** The events by name: without those that every page sends by itself once it has loaded, and when it is left. */
export function namesOf(rows: readonly StoredEvent[]): string[] {
  return rows.map(({ event_name }) => event_name).filter((name) => name !== 'web_vital' && name !== 'page_leave')
}
