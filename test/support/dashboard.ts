/** The dashboard in Chromium: signed in as the owner, and looked at by axe. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { createSignInLink } from '../../postgres/tables/owner-sessions.ts'
import { browserWithinMs, demand, sharedBrowser } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

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

  return async function signIn(
    test: Parameters<typeof demand>[1],
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<Page> {
    context = await (await demand(browser, test)).newContext({ colorScheme, viewport: { width: 1280, height: 900 } })
    const page = await context.newPage()
    const token = await createSignInLink(stores.pg, mine.workspaceId, Date.now())
    await page.goto(`${api.url}/dashboard/sign-in?token=${token}`)
    return page
  }
}

/** By the debugger's own door: the policy of the page lets no script in. */
export function violations(page: Page): Promise<unknown> {
  return page.evaluate(
    `${axe};axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
  )
}
