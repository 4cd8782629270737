/**
 * One browser for all test files of a run, started when the first of them asks. Each takes a context of its own, which
 * shares nothing with others.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Browser, chromium } from 'playwright-core'
import type { TestContext } from 'vitest'
import { type FoundBrowser, findBrowser } from './find-browser.ts'
import { askShared } from './first-process.ts'
import { leaveOut } from './left-out.ts'

/** The answer of the run's first process: where the browser listens, or why there is none. */
type BrowserAnswer = { readonly endpoint: string; readonly program: FoundBrowser } | { readonly missing: string }

const isBrowserSkipped = (process.env['SKIP_BROWSER'] ?? '') !== ''

/** Finding it may mean to fetch it. */
export const browserWithinMs = 330_000

/** Asks for it; undefined where there is none: see `demand`. */
export async function sharedBrowser(): Promise<Browser | undefined> {
  if (isBrowserSkipped) return undefined
  const answer = await askShared<BrowserAnswer>('browser')
  return 'missing' in answer ? undefined : chromium.connect(answer.endpoint)
}

/**
 * Another browser, at `url`, that nothing drives: it does what driven ones don't do, as to prerender. It sees the world
 * through `proxyPort`, keeps its files in `folder`, and ends with the test.
 */
export async function openUndriven(
  url: string,
  proxyPort: number,
  folder: string,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<void> {
  const answer = await askShared<BrowserAnswer>('browser')
  if ('missing' in answer) throw new Error(answer.missing)
  const { executable, env, majorVersion } = answer.program
  const child = spawn(
    executable,
    [
      '--headless=new',
      '--no-sandbox',
      '--no-first-run',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--user-data-dir=${folder}`,
      `--user-agent=${userAgentOf(majorVersion)}`,
      `--proxy-server=127.0.0.1:${proxyPort}`,
      '--proxy-bypass-list=<-loopback>',
      url,
    ],
    { env: { ...process.env, ...env }, stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
}

/** The browser as a test needs it. Without one the test fails and says why, or is left out where that was asked for. */
export async function demand(browser: Browser | undefined, context: Pick<TestContext, 'skip'>): Promise<Browser> {
  if (browser !== undefined) return browser
  if (isBrowserSkipped) leaveOut(context, 'SKIP_BROWSER is set')
  const answer = await askShared<BrowserAnswer>('browser')
  throw new Error('missing' in answer ? answer.missing : 'the browser is gone')
}

export interface RunningBrowser {
  readonly answer: BrowserAnswer
  close(): Promise<void>
}

/** Finds the browser and starts it: once a run, in its first process. */
export async function startBrowser(): Promise<RunningBrowser> {
  const found = await findBrowser((line) => process.stderr.write(`browser tests: ${line}\n`))
  if (typeof found === 'string') {
    const help = 'install one (Debian: `apt-get install chromium`), or run `SKIP_BROWSER=1 npm test`'
    return { answer: { missing: `${found}; ${help}` }, close: async () => {} }
  }
  const server = await chromium.launchServer(launchOptions(found))
  return {
    answer: { endpoint: server.wsEndpoint(), program: found },
    close: () => server.close(),
  }
}

/** As people's browsers call themselves; one without a screen says that it is headless. */
function userAgentOf(majorVersion: number | string): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${majorVersion}.0.0.0 Safari/537.36`
}

/**
 * Features that are turned off. Chromium takes the last of two lists on a command line, so this one has playwright's,
 * too. Three that begin with WebUI load two pages for the address bar of each window, which took a third of the
 * processor's time of a context. The last starts a process for a page that mostly isn't opened: a ninth of it.
 */
const unwantedFeatures = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'LensOverlay',
  'HttpsFirstBalancedModeAutoEnable',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'AimEnabled',
  'NetworkTimeServiceQuerying',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'SpareRendererForSitePerProcess',
]

/** As people's browsers are: with a back-forward cache, and without a mark of being driven. */
function launchOptions({ executable, env, majorVersion }: FoundBrowser) {
  return {
    executablePath: executable,
    env: { ...process.env, ...env } as Record<string, string>,
    // A browser of playwright's own would be a headless shell, which has neither cache nor prerendering.
    channel: 'chromium',
    headless: true,
    ignoreDefaultArgs: ['--disable-back-forward-cache', '--enable-automation'],
    args: [
      '--disable-blink-features=AutomationControlled',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      `--disable-features=${unwantedFeatures.join(',')}`,
      // Here and not in a context, whose own name is missing from what a page sends while it is left.
      `--user-agent=${userAgentOf(majorVersion)}`,
    ],
  }
}
