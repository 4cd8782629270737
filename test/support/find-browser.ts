/**
 * A Chrome or Chromium for the tests of pages: one of this machine, else playwright's own, else Debian's package. The
 * last two are fetched once, into the project's cache, without root (Debian's in 10 to 20 seconds). Packages of npm
 * that carry a browser were left aside. They hold headless shells, which differ from people's browser where it matters
 * here (back-forward cache, prerendering). The present ones ask for Node 22, and every `npm ci` would bring them to
 * everybody.
 */
import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { projectFile } from '../../runtime/paths.ts'
import { fetchDebianPackages, isDebian, libraryPathOf } from '../../start/stores/debian-packages.ts'
import { writeFontSettings } from './browser-fonts.ts'

interface BrowserProgram {
  readonly executable: string
  readonly env: Readonly<Record<string, string>>
}

export interface FoundBrowser extends BrowserProgram {
  readonly majorVersion: number
}

/** The first that tells of scripts in long frames, and shares its headless mode with the one that people use. */
const majorVersionMin = 123
const versionWithinMs = 20_000
const answerWithinMs = 3_000
const downloadWithinMs = 120_000
const packagesWithinMs = 150_000

/** Names of Debian, of others, and of Google; then where macOS has them. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
const applications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]
const cache = projectFile('.cache/browser')
const playwrightFolder = join(cache, 'playwright')
const debianRoot = join(cache, 'debian')
const playwrightHost = 'https://cdn.playwright.dev/'

/**
 * @param say is told of what takes a while
 * @returns the browser, or in one line why there is none
 */
export async function findBrowser(say: (line: string) => void): Promise<FoundBrowser | string> {
  for (const program of await installed()) {
    const majorVersion = await versionOf(program)
    if (majorVersion >= majorVersionMin) return { ...program, majorVersion }
  }
  const failures: string[] = []
  for (const fetchOne of [fetchPlaywright, fetchDebian]) {
    const found = await fetchOne(say).catch((error: Error) => error.message)
    if (typeof found === 'string') {
      failures.push(found)
      continue
    }
    const majorVersion = await versionOf(found)
    if (majorVersion >= majorVersionMin) return { ...found, majorVersion }
    failures.push(`${found.executable} doesn't run here`)
  }
  return `needs Chrome or Chromium ${majorVersionMin} or newer on PATH (${failures.join('; ')})`
}

/** Browsers that are there already, on the machine or in the cache. */
async function installed(): Promise<BrowserProgram[]> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const own = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  const playwright = [chromium.executablePath(), ...(existsSync(playwrightFolder) ? [await fetchedExecutable()] : [])]
  const programs = [...own, ...applications, ...playwright].map((executable) => ({ executable, env: {} }))
  const debian = existsSync(join(debianRoot, 'usr')) ? [debianProgram()] : []
  return [...programs, ...debian].filter(({ executable }) => existsSync(executable))
}

/** 0 for what doesn't start: a name on PATH may be a stub that asks for an installation. */
async function versionOf({ executable, env }: BrowserProgram): Promise<number> {
  const options = { env: { ...process.env, ...env }, timeout: versionWithinMs }
  const { stdout } = await promisify(execFile)(executable, ['--version'], options).catch(() => ({ stdout: '' }))
  return Number(/Chrom\w+(?: for Testing)? (\d+)\./.exec(stdout)?.[1] ?? 0)
}

/** Where playwright has the Chromium that was fetched. Another process, as it reads the folder when it is loaded. */
async function fetchedExecutable(): Promise<string> {
  const program = "import { chromium } from 'playwright-core'; process.stdout.write(chromium.executablePath())"
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: projectFile('.'),
    env: { ...process.env, PLAYWRIGHT_BROWSERS_PATH: playwrightFolder },
    timeout: versionWithinMs,
  })
  return stdout
}

async function fetchPlaywright(say: (line: string) => void): Promise<BrowserProgram> {
  // Its own waiting is long: where nobody answers, it isn't begun.
  await fetch(playwrightHost, { signal: AbortSignal.timeout(answerWithinMs) }).catch(() => {
    throw new Error("playwright's download isn't reached")
  })
  say("fetching playwright's Chromium (once)")
  const cli = projectFile('node_modules/playwright-core/cli.js')
  await promisify(execFile)(process.execPath, [cli, 'install', 'chromium', '--no-shell'], {
    env: { ...process.env, PLAYWRIGHT_BROWSERS_PATH: playwrightFolder },
    timeout: downloadWithinMs,
  }).catch(() => {
    throw new Error("playwright's download failed")
  })
  return { executable: await fetchedExecutable(), env: {} }
}

async function fetchDebian(say: (line: string) => void): Promise<BrowserProgram> {
  if (!isDebian()) throw new Error('this is no Debian, of which there would be a package')
  say("fetching Debian's Chromium (once, about 130 MB)")
  rmSync(debianRoot, { recursive: true, force: true })
  await fetchDebianPackages({
    root: debianRoot,
    packages: ['chromium'],
    withDependencies: true,
    withinMs: packagesWithinMs,
  })
  return debianProgram()
}

/** Not the wrapper of the package, which looks for its files at the system's root. */
function debianProgram(): BrowserProgram {
  const env = { LD_LIBRARY_PATH: libraryPathOf(debianRoot), ...writeFontSettings(debianRoot) }
  return { executable: join(debianRoot, 'usr/lib/chromium/chromium'), env }
}
