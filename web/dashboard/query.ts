/** Asks the API as the owner who is signed in: once, or for as long as an answer is looked at. */
import { useEffect, useState } from 'preact/hooks'

export interface Failed {
  readonly since: Date
  readonly text: string
  /** The question is at fault, not the server: asking again gives the same. */
  readonly isRefused: boolean
}

export interface Asked<Answer> {
  /** The newest answer, also while another one is awaited. */
  readonly answer: Answer | undefined
  /** Since when answers fail, and why. */
  readonly failure: Failed | undefined
  /** The answer is of another question than the one that is asked. */
  readonly isStale: boolean
}

/** What the page came with, by what is asked; each is taken once. */
const came = new Map<string, unknown>(
  Object.entries(JSON.parse(globalThis.document?.getElementById('answers')?.textContent ?? '{}')),
)

function takeWhatCame<Answer>(path: string | undefined): { path: string; answer: Answer } | undefined {
  const [name = '', query] = path?.split('?') ?? []
  const sorted = new URLSearchParams(query)
  sorted.sort()
  const key = query === undefined ? name : `${name}?${sorted}`
  if (path === undefined || !came.has(key)) return undefined
  const answer = came.get(key) as Answer
  came.delete(key)
  return { path, answer }
}

const liveMs = 5_000
/** What takes long, to answer or to fail, is asked for less often: a page that is left open takes little of a core. */
const pausePerAnswer = 9
const pauseMaxMs = 15_000
/** A page that waits for the first event is told of it sooner. */
const soonAgainMs = 1_000

interface UseOptions<Answer> {
  /** Whether it is asked again soon. */
  readonly isHurried?: (answer: Answer) => boolean
  /** How long until it is asked again. */
  readonly againMs?: number
  /** Another number asks at once. */
  readonly round?: number
}

/** The question is at fault. */
class Refused extends Error {}

/**
 * The workspace that the page shows: each request names it, as the session may go on in another one in another tab. Then the
 * server refuses.
 */
let workspaceId: number | undefined

export function showWorkspace(id: number): void {
  workspaceId = id
}

function headersOf(more: Record<string, string> = {}): Record<string, string> {
  return workspaceId === undefined ? more : { ...more, 'X-Workspace': String(workspaceId) }
}

const signedOut = 'you are signed out. Sign in again in another tab, and go on here'
/** Somebody may be writing. */
const hasForm = () => document.querySelector('main form, dialog form') !== null

async function read(path: string, signal: AbortSignal): Promise<unknown> {
  const response = await fetch(`/api/v1${path}`, { signal, headers: headersOf() })
  if (response.status === 401) {
    if (hasForm()) throw new Error(signedOut)
    location.assign('/dashboard/sign-in')
    return new Promise(() => undefined)
  }
  const body = await response.json()
  if (response.ok) return body
  const text = textOf(body.detail ?? String(response.status))
  throw response.status === 422 ? new Refused(text) : new Error(text)
}

/**
 * @param path with its query, under `/api/v1`; undefined: nothing is asked. Several with a blank between are asked together, and
 *   their answer is a list
 */
export function useAnswer<Answer>(
  path: string | undefined,
  { isHurried = () => false, againMs = liveMs, round = 0 }: UseOptions<Answer> = {},
): Asked<Answer> {
  const [known, setKnown] = useState(() => takeWhatCame<Answer>(path))
  const [failure, setFailure] = useState<Failed>()
  useEffect(() => {
    if (path === undefined) return
    const asked = path
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    async function ask(): Promise<void> {
      let isSoon = false
      const startedAt = performance.now()
      try {
        const bodies = await Promise.all(asked.split(' ').map((one) => read(one, leaving.signal)))
        const answer = (bodies.length === 1 ? bodies[0] : bodies) as Answer
        setKnown({ path: asked, answer })
        setFailure(undefined)
        isSoon = isHurried(answer)
      } catch (error) {
        if (leaving.signal.aborted) return
        const isRefused = error instanceof Refused
        setFailure((before) => ({ since: before?.since ?? new Date(), text: (error as Error).message, isRefused }))
      }
      const pauseMs = Math.min(pausePerAnswer * (performance.now() - startedAt), pauseMaxMs)
      timer = setTimeout(askWhenSeen, isSoon ? soonAgainMs : Math.max(againMs, pauseMs))
    }

    function askWhenSeen(): void {
      if (document.visibilityState === 'visible') void ask()
      else document.addEventListener('visibilitychange', askWhenSeen, { once: true, signal: leaving.signal })
    }

    // What the page came with is as good as asked for.
    if (known?.path === path && round === 0)
      timer = setTimeout(askWhenSeen, isHurried(known.answer) ? soonAgainMs : againMs)
    else void ask()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [path, round])
  return { answer: known?.answer, failure, isStale: known !== undefined && known.path !== path }
}

/** What came of one request: what was made or asked for, or what is wrong with it in words. */
export type Sent<Answer> = { readonly made: Answer } | { readonly refusal: string }

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** By method, path and body. */
const underWay = new Map<string, Promise<Sent<unknown>>>()

/** The same request as one that isn't answered yet is that one: a second click makes nothing twice. */
export function send<Answer>(method: Method, path: string, body?: object): Promise<Sent<Answer>> {
  const text = body instanceof FormData ? undefined : JSON.stringify(body)
  if (body instanceof FormData) return sendNow<Answer>(method, path, { body, headers: headersOf() })
  const name = `${method} ${path} ${text}`
  const same = underWay.get(name) as Promise<Sent<Answer>> | undefined
  if (same !== undefined) return same
  const headers = headersOf(text === undefined ? {} : { 'Content-Type': 'application/json' })
  const sending = sendNow<Answer>(method, path, { headers, ...(text !== undefined && { body: text }) })
  underWay.set(name, sending)
  void sending.finally(() => underWay.delete(name))
  return sending
}

async function sendNow<Answer>(method: Method, path: string, init: RequestInit): Promise<Sent<Answer>> {
  try {
    const response = await fetch(`/api/v1${path}`, { method, ...init })
    const answer = await response.json()
    return response.ok ? { made: answer as Answer } : { refusal: textOf(answer.detail) }
  } catch (error) {
    return { refusal: (error as Error).message }
  }
}

interface Fault {
  readonly loc: readonly (string | number)[]
  readonly msg: string
}

function textOf(detail: string | readonly Fault[]): string {
  return typeof detail === 'string'
    ? detail
    : detail.map(({ loc, msg }) => `${loc.slice(1).join(' ')}: ${msg}`).join('. ')
}
