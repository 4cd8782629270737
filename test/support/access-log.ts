/**
 * The real access log that replay is tried on, and what it holds, computed the plain way and apart from the code of
 * `svc replay`: read whole, sorted, grouped.
 */
import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { projectFile } from '../../runtime/paths.ts'

const path = projectFile('../shared/data/access-2015-05.log.gz')

/** @throws Error saying what is missing, where the file isn't beside the project */
export function accessLogPath(): string {
  if (existsSync(path)) return path
  throw new Error(`this test needs the access log at ${path}, which isn't there`)
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
export function loggedPages(): LoggedPage[] {
  const pages: LoggedPage[] = []
  for (const line of gunzipSync(readFileSync(accessLogPath())).toString('utf8').split('\n')) {
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

/** Where a session came from, for the referrers of this log. */
export function sourceOf({ target, referrer }: LoggedPage): string {
  const query = new URLSearchParams(target.split('?')[1] ?? '')
  const campaign = query.get('utm_source')
  if (campaign !== null) return `${campaign} / ${query.get('utm_medium')}`
  const host = /^https?:\/\/(?:www\.)?([^/:]+)/.exec(referrer)?.[1]?.toLowerCase()
  if (host === undefined || host === 'semicomplete.com') return 'direct / none'
  if (/^(?:\w+\.)?google\.[a-z.]+$/.test(host)) return 'google / organic'
  if (/^(?:r\.)?duckduckgo\.com$/.test(host)) return 'duckduckgo / organic'
  if (/^(?:stackoverflow|superuser|askubuntu|serverfault)\.com$|\.stackexchange\.com$/.test(host)) {
    return 'stackoverflow / social'
  }
  return `${host} / referral`
}
