/**
 * Access logs that replay is tried on: one that is made up, and a real one where it lies beside the project. Their
 * content is computed the plain way and apart from the code of `svc replay`: read whole, sorted, grouped.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { onTestFinished, type TestContext } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { leaveOut } from './left-out.ts'
import { madeSite, makeAccessLog } from './made-access-log.ts'

export interface AccessLog {
  /** Path of the gzipped file. */
  readonly path: string
  readonly lines: readonly string[]
  /** The site that its own pages refer to. */
  readonly site: string
}

export type LogName = keyof typeof openers

const openers = { 'a made-up log': openMadeLog, 'the real log': openRealLog }
export const logNames = Object.keys(openers) as LogName[]

/** Until the test is over. The test is left out where there is no such log. */
export function openLog(name: LogName, context: TestContext): AccessLog {
  return openers[name](context)
}

/** @returns the log; its file is deleted by `remove` */
export function writeMadeLog(): AccessLog & { remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-access-'))
  const path = join(folder, 'access.log.gz')
  writeFileSync(path, gzipSync(makeAccessLog()))
  return { ...readLog(path, madeSite), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function openMadeLog(): AccessLog {
  const { remove, ...log } = writeMadeLog()
  onTestFinished(remove)
  return log
}

function openRealLog(context: TestContext): AccessLog {
  const path = projectFile('../shared/data/access-2015-05.log.gz')
  if (!existsSync(path)) leaveOut(context, 'needs ../shared/data/access-2015-05.log.gz')
  return readLog(path, 'http://www.semicomplete.com')
}

function readLog(path: string, site: string): AccessLog {
  return { path, site, lines: gunzipSync(readFileSync(path)).toString('utf8').trimEnd().split('\n') }
}

export interface LoggedPage {
  address: string
  agent: string
  time: number
  target: string
  path: string
  referrer: string
}

/** The page requests of the log in order of time. */
export function pagesOf({ lines }: AccessLog): LoggedPage[] {
  const pages: LoggedPage[] = []
  for (const line of lines) {
    const match = /^(\S+) - - \[(.+?)\] "GET (\S+) HTTP\/1\.[01]" (200|304) \S+ "(.*?)" "(.*)"$/.exec(line)
    if (match === null) continue
    const [, address, when, target, , referrer, agent] = match as unknown as string[]
    const path = target!.split(/[?#]/)[0]!
    if (/\.[a-z]\w{0,9}$/i.test(path) && !/\.x?html?$|\.php$/i.test(path)) continue
    const [day, month, year, clock] = when!.split(/[/: ]/).length > 6 ? splitTime(when!) : ['', '', '', '']
    pages.push({
      address: address!,
      agent: agent!,
      time: Date.parse(`${day} ${month} ${year} ${clock}`),
      target: target!,
      path,
      referrer: referrer === '-' ? '' : referrer!,
    })
  }
  return pages.sort((a, b) => a.time - b.time)
}

/** `17/May/2015:10:05:03 +0000` as day, month, year, and time with zone. */
function splitTime(when: string): string[] {
  const [date, ...rest] = when.split(':')
  return [...date!.split('/'), rest.join(':')]
}

export interface LoggedSession {
  visitor: string
  pages: LoggedPage[]
}

/** Sessions of a visitor (address and agent), ended by more than 30 idle minutes. */
export function sessionsOf(pages: readonly LoggedPage[]): LoggedSession[] {
  const sessions: LoggedSession[] = []
  const latest = new Map<string, LoggedSession>()
  for (const page of pages) {
    const visitor = `${page.address} ${page.agent}`
    const last = latest.get(visitor)
    if (last !== undefined && page.time - last.pages.at(-1)!.time <= 30 * 60_000) {
      last.pages.push(page)
    } else {
      const session = { visitor, pages: [page] }
      latest.set(visitor, session)
      sessions.push(session)
    }
  }
  return sessions
}

/** Where a session came from, for the referrers of these logs. */
export function sourceOf({ target, referrer }: LoggedPage, site: string): string {
  const query = new URLSearchParams(target.split('?')[1] ?? '')
  const campaign = query.get('utm_source')
  if (campaign !== null) return `${campaign} / ${query.get('utm_medium')}`
  const host = /^https?:\/\/(?:www\.)?([^/:]+)/.exec(referrer)?.[1]?.toLowerCase()
  if (host === undefined || site.endsWith(`//www.${host}`)) return 'direct / none'
  if (/^(?:\w+\.)?google\.[a-z.]+$/.test(host)) return 'google / organic'
  if (/^(?:r\.)?duckduckgo\.com$/.test(host)) return 'duckduckgo / organic'
  if (/^(?:stackoverflow|superuser|askubuntu|serverfault)\.com$|\.stackexchange\.com$/.test(host)) {
    return 'stackoverflow / social'
  }
  return `${host} / referral`
}
