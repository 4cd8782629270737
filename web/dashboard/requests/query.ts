/** Asks the API as whoever is signed in, or by a shared link: once, or for as long as an answer is looked at. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { reloadAfterBack } from '../shell/reload-after-back.ts'
import { isShared } from '../shell/shared-page.ts'
import { answeredWrites, countAnsweredWrite, trackAnswer, untilFresh } from './answer-freshness.ts'
import { takeFirstAnswer } from './first-answers.ts'
import { isPressedAnew } from './pressed-anew.ts'
import { type ApiAnswer, Missing, Refused, type RequestOptions, refusalOf, request } from './request.ts'

export interface Failed {
  readonly since: Date
  readonly text: string
  /** The question is at fault, not the server: asking again gives the same. */
  readonly isRefused: boolean
  /** The resource doesn't exist. It isn't asked for again. */
  readonly isMissing: boolean
}

export interface Asked<Answer> {
  /** The newest answer, also while another one is awaited. */
  readonly answer: Answer | undefined
  /** Since when answers fail, and why. */
  readonly failure: Failed | undefined
  /** Nothing came yet, neither an answer nor a failure. */
  readonly isComing: boolean
  /** The answer is of another question than the one that is asked. */
  readonly isStale: boolean
}

/** All who look at a shared link have one rate limit together. */
const liveMs = isShared ? 60_000 : 5_000
/** Slow answers and failures are asked for less often: a page that is left open takes little of a core. */
const pausePerAnswer = 9
const pauseMaxMs = 15_000
/** A page that waits for the first event is told of it sooner. */
const soonAgainMs = 1_000

interface UseOptions<Answer> {
  /** Whether it is asked again soon. */
  readonly isHurried?: (answer: Answer) => boolean
  /** How long until it is asked again. */
  readonly againMs?: number
}

const revoked = 'This link is wrong, has expired, or was revoked. Whoever gave it to you can make another one'
const signedOut = 'you are signed out. Sign in again in another tab, and go on here'
/** Somebody may be writing. */
const hasForm = () => document.querySelector('main form, dialog form') !== null

/** After this time a sign-out counts as cancelled. */
const signOutWithinMs = 30_000
let signOutSentAt = Number.NEGATIVE_INFINITY

/** The form that signs out was sent. A 401 doesn't navigate meanwhile: that would cancel the form. */
export function signOutSent(): void {
  signOutSentAt = performance.now()
  reloadAfterBack()
}

async function read(path: string, signal: AbortSignal): Promise<unknown> {
  const answer = await request(path, { signal })
  const { response, body } = answer
  if (response.status === 401) {
    if (isShared) throw new Missing(revoked)
    if (hasForm() || performance.now() - signOutSentAt < signOutWithinMs) throw new Error(signedOut)
    // After Back, the restored page would show a request that never ends.
    reloadAfterBack()
    location.assign(`/dashboard/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`)
    return new Promise(() => undefined)
  }
  if (response.ok) return body
  const text = refusalOf(answer)
  if (response.status === 404) throw new Missing(text)
  throw response.status === 422 ? new Refused(text) : new Error(text)
}

/**
 * @param path with its query, under `/api/v1`; undefined: nothing is asked. Several with a blank between are asked together, and
 *   their answer is a list
 */
export function useAnswer<Answer>(
  path: string | undefined,
  { isHurried = () => false, againMs = liveMs }: UseOptions<Answer> = {},
): Asked<Answer> {
  const [known, setKnown] = useState(() => takeFirstAnswer<Answer>(path))
  /** An answer that came with the page counts as asked for, once: whoever comes back to a question asks it again. */
  const isGiven = useRef(known !== undefined)
  const [failed, setFailed] = useState<Failed & { readonly path: string }>()
  /** Another number asks at once. */
  const [round, setRound] = useState(0)
  const [tracked] = useState(trackAnswer)
  useEffect(() => {
    if (path === undefined) return
    const asked = path
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isAsking = false
    let cameOnline = false
    tracked.begin(asked)

    async function ask(): Promise<void> {
      let waitMs = isShared ? Math.max(againMs, liveMs) : againMs
      isAsking = true
      cameOnline = false
      const startedAt = performance.now()
      const knows = answeredWrites()
      try {
        const bodies = await Promise.all(asked.split(' ').map((one) => read(one, leaving.signal)))
        // A write ended meanwhile: this may be of before it, and would take back what is shown of it.
        if (answeredWrites() !== knows) return ask()
        const answer = (bodies.length === 1 ? bodies[0] : bodies) as Answer
        setKnown({ path: asked, answer })
        setFailed(undefined)
        tracked.renew(knows)
        if (isHurried(answer)) waitMs = soonAgainMs
      } catch (error) {
        if (leaving.signal.aborted) return
        const isRefused = error instanceof Refused
        const isMissing = error instanceof Missing
        const text = (error as Error).message
        setFailed((before) => {
          const since = before?.path === asked ? before.since : new Date()
          return { path: asked, since, text, isRefused, isMissing }
        })
        tracked.renew(knows)
        if (isMissing) return
        // It was sent before the network was back.
        if (cameOnline) {
          isAsking = false
          return askWhenSeen()
        }
        // After a failure, questions that are seldom asked are repeated as often as live ones.
        if (!isRefused) waitMs = liveMs
      }
      isAsking = false
      const pauseMs = Math.min(pausePerAnswer * (performance.now() - startedAt), pauseMaxMs)
      timer = setTimeout(askWhenSeen, waitMs === soonAgainMs ? waitMs : Math.max(waitMs, pauseMs))
    }

    function askWhenSeen(): void {
      if (document.visibilityState === 'visible') void ask()
      else document.addEventListener('visibilitychange', askWhenSeen, { once: true, signal: leaving.signal })
    }

    const onOnline = () => {
      cameOnline = true
      if (isAsking) return
      clearTimeout(timer)
      askWhenSeen()
    }
    addEventListener('online', onOnline, { signal: leaving.signal })
    writes.addEventListener('answered', () => setRound((before) => before + 1), { signal: leaving.signal })
    if (isGiven.current && known?.path === path)
      timer = setTimeout(askWhenSeen, isHurried(known.answer) ? soonAgainMs : againMs)
    else void ask()
    isGiven.current = false
    return () => {
      leaving.abort()
      tracked.end()
      clearTimeout(timer)
    }
  }, [path, round])
  const failure = failed?.path === path ? failed : undefined
  return {
    answer: known?.answer,
    failure,
    isComing: known?.answer === undefined && failure === undefined,
    isStale: known !== undefined && known.path !== path,
  }
}

/** The result of one request: what was made or asked for, or what is wrong with it in words. */
export type Sent<Answer> = { readonly made: Answer } | RefusedWrite

export interface RefusedWrite {
  readonly refusal: string
  /** Undefined: no answer came. */
  readonly status?: number
  /** The part that was done, where several requests belong together: `Saved, but not scheduled`. */
  readonly kept?: string
}

type Method = 'POST' | 'PATCH' | 'DELETE'

interface Write {
  /** Method, path and body: an equal write is the same one, as long as its outcome isn't known. */
  readonly name: string
  readonly key: string
  /** As `performance.now()`. */
  readonly lostAt: number
}

/** By name. */
const underWay = new Map<string, Promise<Sent<unknown>>>()
/** Says `answered` after the last write under way: it may have changed whatever is shown, which is asked for anew then. */
const writes = new EventTarget()
/**
 * Writes whose answer was lost, by the resource they change. A repeat keeps its key, unless another write to the resource
 * came in between: then it is a new request.
 */
const lost = new Map<string, Write>()

/** The same request as one that isn't answered yet is that one: a second click makes nothing twice. */
export function send<Answer>(
  method: Method,
  path: string,
  body?: object,
  options: Pick<RequestOptions, 'withinMs'> = {},
): Promise<Sent<Answer>> {
  if (body instanceof FormData) {
    return write(`${method} ${path} ${nameOf(body)}`, path, { method, body, withinMs: Number.POSITIVE_INFINITY })
  }
  const name = `${method} ${path} ${JSON.stringify(body)}`
  const same = underWay.get(name) as Promise<Sent<Answer>> | undefined
  if (same !== undefined) return same
  const sending = write<Answer>(name, path, { method, ...(body && inJson(body)), ...options })
  underWay.set(name, sending)
  void sending.finally(() => {
    underWay.delete(name)
    countAnsweredWrite(path)
    // The next one of several begins at once.
    setTimeout(() => underWay.size === 0 && writes.dispatchEvent(new Event('answered')))
  })
  return sending
}

/** The same where it is gone already, by an earlier click or by somebody else. Resolves once the page shows that it is gone. */
export async function remove(path: string): Promise<Sent<unknown>> {
  const sent = await send('DELETE', path)
  if ('refusal' in sent && sent.status !== 404) return sent
  await untilFresh()
  return { made: undefined }
}

/** Asks once, and changes nothing. @param body of a question that needs one */
export async function fetchOnce<Answer>(
  path: string,
  body?: object,
  options: Pick<RequestOptions, 'withinMs'> = {},
): Promise<Sent<Answer>> {
  try {
    return sentOf(await request(path, { ...(body && { method: 'POST', ...inJson(body) }), ...options }))
  } catch (error) {
    return { refusal: (error as Error).message }
  }
}

function inJson(body: object) {
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

function sentOf<Answer>(answer: ApiAnswer): Sent<Answer> {
  const { ok, status } = answer.response
  if (ok) return { made: answer.body as Answer }
  const isOver = status === 401 && !isShared
  return { refusal: isOver ? signedOut.replace('you', 'You') : refusalOf(answer), status }
}

/** Sent again after a lost answer it has the same key, so the server does it once. */
async function write<Answer>(name: string, path: string, options: RequestOptions): Promise<Sent<Answer>> {
  const thing = /^\/[\w-]+\/\d+/.exec(path)?.[0] ?? path
  const changed = `changes of ${thing}`
  const place = options.method === 'PATCH' ? changed : thing
  const before = lost.get(place)
  lost.delete(place)
  // A PATCH undoes no other write, but another write may undo a PATCH: then its key is dropped.
  if (place === thing) lost.delete(changed)
  const key = before?.name === name && !isPressedAnew(path, options, before.lostAt) ? before.key : makeKey()
  const lose = () => lost.set(place, { name, key, lostAt: performance.now() })
  try {
    const headers = { ...options.headers, 'Idempotency-Key': key }
    const answer = await request(path, { ...options, headers })
    if (!isFinal(answer.response)) lose()
    return sentOf(answer)
  } catch (error) {
    lose()
    return { refusal: (error as Error).message }
  }
}

/** Whether the API decided on the write. It says when to come again where it didn't. */
function isFinal({ status, headers }: Response): boolean {
  return status < 500 && status !== 401 && !headers.has('Retry-After')
}

/** Pages that come without TLS have no `randomUUID`. */
function makeKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A file by what tells it from others without being read. */
function nameOf(form: FormData): string {
  const values = [...form].map(([name, value]) =>
    typeof value === 'string' ? [name, value] : [name, value.name, value.size, value.lastModified],
  )
  return JSON.stringify(values)
}
