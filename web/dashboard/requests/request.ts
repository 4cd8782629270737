/** One request of the dashboard to the API: its workspace, its deadline, and in words why it failed. */

import { localMoment } from '../parts/format.ts'
import { isShared, linkFragment, openedWorkspace } from '../shell/shared-page.ts'
import { localDay } from '../view/address.ts'

/** The question is at fault. */
export class Refused extends Error {}
/** There is nothing of that name. */
export class Missing extends Error {}

/** Longer than the server waits for its stores. */
const deadlineMs = 20_000

/** The workspace that the page shows: each request names it, as another tab of the session may show another one. */
let workspaceId = openedWorkspace

export function showWorkspace(id: number): void {
  workspaceId = id
}

let hold = new AbortController()
let goOn = () => {}
let held = Promise.resolve()

/** The page is left for another workspace: questions about this one are neither asked nor answered any more. */
export function holdRequests(): void {
  held = new Promise((resolve) => {
    goOn = resolve
  })
  hold.abort()
}

/** The page stays after all: whatever was held is asked once more, a write by the same key. */
export function resumeRequests(): void {
  hold = new AbortController()
  goOn()
}

/** Tests outside of a browser have none. */
declare const document:
  | { getElementById(id: string): { readonly dataset: Readonly<Record<string, string>> } | null }
  | undefined

/** The server's time as it sent the page. */
const sentWithPage = typeof document === 'undefined' ? undefined : document.getElementById('app')?.dataset['now']

/** How far the server's clock is ahead of this one, by the page and then by the last answer. */
let aheadMs = sentWithPage === undefined ? 0 : Number(sentWithPage) - Date.now()

/** The time by the server's clock, which decides what lies in the future. */
export function serverNow(): number {
  return Date.now() + aheadMs
}

/** The local day, by the server's clock. */
export function todayIn(timeZone: string): string {
  return localDay(serverNow(), timeZone)
}

/** The same with the time of day: `2030-03-01T09:00`. */
export function momentIn(timeZone: string): string {
  return localMoment(new Date(serverNow()).toISOString(), timeZone)
}

export interface ApiAnswer {
  readonly response: Response
  readonly body: unknown
}

export interface RequestOptions extends RequestInit {
  readonly headers?: Record<string, string>
  /** Infinity for uploads, which may take long. */
  readonly withinMs?: number
}

/** @throws Error whose message says in words why there is no answer, also where the page is left */
export async function request(path: string, options: RequestOptions = {}): Promise<ApiAnswer> {
  if (hold.signal.aborted) await held
  const { withinMs = deadlineMs, signal, ...init } = options
  const holding = hold.signal
  const ending = new AbortController()
  const leave = () => ending.abort()
  let isLate = false
  const timer = Number.isFinite(withinMs)
    ? setTimeout(() => {
        isLate = true
        ending.abort()
      }, withinMs)
    : undefined
  if (signal?.aborted) leave()
  signal?.addEventListener('abort', leave)
  holding.addEventListener('abort', leave)
  try {
    const response = await fetch(`${isShared ? '' : '/api'}/v1${path}`, { ...init, ...by(init), signal: ending.signal })
    const sentAt = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(sentAt)) aheadMs = sentAt - Date.now()
    const text = await response.text()
    return { response, body: parse(text, response.status) }
  } catch (error) {
    if (holding.aborted) return request(path, options)
    if (error instanceof Unreadable) throw error
    throw new Error(isLate ? 'The service doesn’t answer' : 'The service can’t be reached')
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
    holding.removeEventListener('abort', leave)
  }
}

/** Who asks: the owner by the session's cookie, for the workspace that is shown, or whoever has a shared link by its token. */
function by({ headers }: RequestOptions): RequestInit {
  if (isShared) {
    return { headers: { ...headers, Authorization: `Bearer ${linkFragment().slice(1)}` }, credentials: 'omit' }
  }
  return { headers: { ...headers, ...(workspaceId !== undefined && { 'X-Workspace': String(workspaceId) }) } }
}

class Unreadable extends Error {}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Unreadable(`The service answered ${status}`)
  }
}

interface Fault {
  readonly loc: readonly (string | number)[]
  readonly msg: string
}

/** Why the API refused, in the words of a form: `Currency: must have at most 3 characters`. */
export function refusalOf({ response, body }: ApiAnswer): string {
  const { detail } = (body ?? {}) as { detail?: string | readonly Fault[] }
  if (detail === undefined) return `The service answered ${response.status}`
  return typeof detail === 'string'
    ? detail
    : detail.map(({ loc, msg }) => [fieldOf(loc), sayingOf(msg)].filter(Boolean).join(': ')).join('. ')
}

/** Fields whose label in the forms is another one than their name says. */
const labels: Readonly<Record<string, string>> = {
  alt_text: 'Alternative text',
  base_caption: 'Caption',
  destination_url: 'Destination',
  email: 'E-mail',
  every: 'How often',
  expired_url: 'Then leads to',
  expires_at: 'Expires',
  hostnames: 'Only these hosts',
  media_ids: 'Images and videos',
  paths: 'Pages',
  platform_captions: 'Another caption for',
  replay_share: 'Percentage of sessions recorded',
  retention_days: 'Days to keep analytics',
  scheduled_at: 'Time',
  social_account_ids: 'Accounts',
  source_urls: 'Public pages',
  url: 'URL',
  utm_source: 'Source',
  utm_medium: 'Medium',
  utm_campaign: 'Campaign',
  utm_content: 'Content',
}

/** `["body", "source_urls", 0]` is `Public pages 1`. In the address a name has one value as a rule: it gets no number. */
function fieldOf([part, field = '', ...steps]: Fault['loc']): string {
  // The caption is part 1.
  const [at, member, ...inside] = steps
  if (field === 'thread' && typeof at === 'number') {
    const within =
      member === undefined || member === 'text' ? '' : `, ${fieldOf([part!, member, ...inside]).toLowerCase()}`
    return `Part ${at + 2}${within}`
  }
  const name = labels[field] ?? String(field).replaceAll('_', ' ')
  const within = steps.map((step) => (typeof step === 'number' ? step + 1 : step.replaceAll('_', ' ')))
  const words = [name, ...(part === 'query' ? [] : within)].join(' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

function sayingOf(msg: string): string {
  return msg
    .replace(/^Value error, /, '')
    .replace(/^(String|Input|List) should /, 'must ')
    .replace(/ after validation, not \d+$/, '')
    .replace(/^Field required$/, 'is required')
}
