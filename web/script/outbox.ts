/**
 * The queue of events and its sending. An event waits in memory or is in a request. If sending fails, or the browser is
 * offline, a hidden page moves its queue to `svc_queue` in the browser's storage. The next page of any tab takes it from
 * there. An event keeps its `client_event_id` over all retries, so it is counted once whichever of them arrives.
 */
import {
  backoffSecondsMax,
  batchMax,
  deadlineMs,
  delayMs,
  keepaliveCharactersMax,
  queueMax,
  storedMax,
} from './bounds.ts'
import { base, key } from './config.ts'
import { browserId, isOpen } from './events.ts'
import { isNear, sessionIdOf } from './sessions.ts'
import { eraseAll, readJson, write } from './storage.ts'

export interface QueuedEvent {
  event_name: string
  client_event_id: string
  occurred_at: string
  url: string
  referrer: string
  title: string
  properties: object
  event_type?: string
  anonymous_id?: string
  /** As it is stored, until the event is sent. */
  session_id?: string
  sent_at?: string
  [field: string]: unknown
}

export let queue: QueuedEvent[] = []
let isBusy: boolean | undefined
let failures = 0
let timer: number | undefined

/** Forgets all that waits, here and in storage, with all else that is stored. */
export function forget(): void {
  queue = []
  eraseAll()
}

export function put(event: QueuedEvent): void {
  if (queue.push(event) > queueMax) queue.shift()
  schedule()
}

/** Other tabs' events are among what was stored: whoever takes them deletes them first. Another workspace's wait for its pages. */
export function takeStored(): void {
  const { [key]: body, ...others } = readJson<Record<string, string>>('svc_queue') || {}
  write('svc_queue', JSON.stringify(others))
  // Older events may have arrived, and wouldn't be known as repeats.
  if (body)
    for (const event of JSON.parse(body).events) if (isNear(Date.parse(event.occurred_at), Date.now())) put(event)
  schedule()
}

export async function send(): Promise<void> {
  timer = clearTimeout(timer) as undefined
  if (!isOpen || isBusy || !queue[0]) return
  isBusy = true
  const from = queue
  const batch = queue.splice(0, batchMax)
  // Seconds, where it has to be repeated: as without any answer.
  let wait = 1
  try {
    const [url, body] = requestOf(batch)
    const { status, headers } = await fetch(url, {
      credentials: 'omit',
      method: 'POST',
      body,
      keepalive: body.length < keepaliveCharactersMax,
      signal: AbortSignal.timeout?.(deadlineMs),
    })
    wait = status > 499 || status === 429 || status === 408 ? +headers.get('retry-after')! || 1 : 0
  } catch {}
  isBusy = false
  failures = wait && failures + 1
  if (wait) {
    // Without consent there is another queue by now.
    from.unshift(...batch)
    wait += Math.min(2 ** failures, backoffSecondsMax) * Math.random()
  }
  schedule(wait * 1000)
  if (failures && document.hidden) sendAtEnd()
}

/** The page is going, perhaps for good. */
export function sendAtEnd(): void {
  // Pages and add-ons replace `sendBeacon` by what throws, too.
  try {
    // Events that are too long together go one by one, as far as there is room.
    for (const count of [batchMax, 1])
      while (
        isOpen &&
        queue[0] &&
        navigator.sendBeacon(...requestOf(queue.slice(0, count))) &&
        // After a failure, both: the beacon may arrive, and what is stored is taken for a repeat then.
        !failures &&
        navigator.onLine
      )
        queue.splice(0, count)
  } catch {}
  if (isOpen && queue[0]) {
    takeStored()
    write('svc_queue', JSON.stringify({ ...readJson('svc_queue'), [key]: requestOf(queue.splice(0, storedMax))[1] }))
  }
}

/** Not while a request is under way: its answer says how long to wait. */
function schedule(ms = delayMs): void {
  if (!isBusy) timer ||= setTimeout(send, ms)
}

function requestOf(events: QueuedEvent[]): [url: string, body: string] {
  for (const event of events) {
    event.sent_at = new Date().toISOString()
    // Not before: tabs that are opened at once have each made an id, and the one that was stored last is everybody's.
    event.anonymous_id = event.anonymous_id || browserId()
    event.session_id = sessionIdOf(event.session_id!, event.anonymous_id)
  }
  // Old Prototype.js gives all lists a `toJSON` that makes a text of them; a list's own one comes before.
  ;(events as { toJSON?: unknown }).toJSON = 0
  return [base + 'api/v1/growth/track/batch', JSON.stringify({ events, tracking_key: key })]
}
