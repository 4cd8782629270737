/**
 * A load client that remembers what it was told. Half of its events carry a `client_event_id` and are sent again until
 * they are answered 202; the others are sent once. Each event is marked in its title, so that stored events can be
 * compared with their answers: 202, none at all, or a refusal.
 */
import { Agent, request } from 'undici'
import { vi } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { isLong } from './short-form.ts'

const connections = 48
/** In short only against hanging: other files use the machine. */
const sendDeadlineMs = isLong ? 5_000 : 60_000
/** Before an event is sent again: all connections together try some hundred times a second. */
const retryMs = 100
const enough = { timeout: 120_000 }
/** In short some hundred events a second: something is always under way, and cores are left to other files. */
const pauseUsuallyMs = isLong ? 0 : 150

/** Where events go; asked again now and then, because it may change with a restart. */
export type LedgerTarget = () => { readonly trackingUrl: string; readonly trackingKey: string }

/** The answers to one event so far. */
export interface Told {
  /** The event as sent, without its marks. */
  readonly content: Readonly<Record<string, unknown>>
  /** Whether it has a client event id: its row may then be one that another answer named. */
  readonly hasId: boolean
  /** The id answered with 202; null: none was. */
  id: number | null
  /** When the first 202 was there; milliseconds since 1970. */
  answeredAt: number | null
  /** Sent at least once without an answer: it may be stored or not. */
  isUnanswered: boolean
}

export type Ledger = ReturnType<typeof openLedger>

let run = 0

export interface LedgerOptions {
  /** That each event carries in its properties, to fill a log sooner. */
  readonly paddingBytes?: number
  /** Events other than the ledger's own pageviews; the title is the ledger's. */
  readonly nextEvent?: (number: number) => Record<string, unknown>
  /** Between two events of a connection; 0: as fast as answers come, as in the long form when left out. */
  readonly pauseMs?: number
}

export function openLedger({ paddingBytes = 0, nextEvent = plainEvent, pauseMs = pauseUsuallyMs }: LedgerOptions = {}) {
  /** Every event that was sent, by its mark. */
  const told = new Map<string, Told>()
  /** Answers other than 202, by status; 0: none. */
  const failures = new Map<number, number>()
  /** How long each 202 took, in milliseconds, in their order. */
  const tookMs: number[] = []
  let next = 0
  run++
  const prefix = `${process.pid}-${run}-${Date.now()}-`

  /** Whether the event was acknowledged. */
  async function send(
    target: LedgerTarget,
    agent: Agent,
    mark: string,
    hasId: boolean,
    content: Record<string, unknown>,
  ): Promise<boolean> {
    const { trackingUrl, trackingKey } = target()
    const event = told.get(mark) ?? { content, hasId, id: null, answeredAt: null, isUnanswered: false }
    told.set(mark, event)
    const body = {
      tracking_key: trackingKey,
      ...content,
      title: mark,
      ...(hasId ? { client_event_id: mark } : {}),
      ...(paddingBytes > 0 ? { properties: { padding: 'x'.repeat(paddingBytes) } } : {}),
    }
    const startedAt = performance.now()
    try {
      const answer = await request(`${trackingUrl}/track`, {
        method: 'POST',
        body: JSON.stringify(body),
        dispatcher: agent,
        headersTimeout: sendDeadlineMs,
        bodyTimeout: sendDeadlineMs,
      })
      const answered = (await answer.body.json()) as { event_id: number }
      if (answer.statusCode === 202) {
        event.id = answered.event_id
        event.answeredAt ??= Date.now()
        tookMs.push(performance.now() - startedAt)
        return true
      }
      failures.set(answer.statusCode, (failures.get(answer.statusCode) ?? 0) + 1)
    } catch {
      event.isUnanswered = true
      failures.set(0, (failures.get(0) ?? 0) + 1)
    }
    return false
  }

  async function sendUntil(stop: AbortSignal, target: LedgerTarget): Promise<void> {
    const agent = new Agent({ connections, pipelining: 1, connect: { timeout: sendDeadlineMs } })
    const lanes = Array.from({ length: connections }, async (_, lane) => {
      while (!stop.aborted) {
        const mark = `${prefix}${next++}`
        const hasId = lane % 2 === 0
        const content = nextEvent(next)
        for (;;) {
          if (await send(target, agent, mark, hasId, content)) break
          await sleep(retryMs)
          // Without an id a repeat would be another event.
          if (!hasId || stop.aborted) break
        }
        if (pauseMs > 0) await sleep(pauseMs)
      }
    })
    await Promise.all(lanes)
    await agent.destroy()
  }

  return {
    told,
    prefix,
    tookMs,
    failures,
    /** 202s so far. */
    get acknowledged() {
      return tookMs.length
    },
    /**
     * Sends while `work` goes on, and until more than so many events are acknowledged, however busy the machine is. Settles
     * when nothing is under way any more.
     */
    async runDuring(target: LedgerTarget, work: () => Promise<void>, moreThan = -1) {
      const stop = new AbortController()
      const sending = sendUntil(stop.signal, target)
      await work()
        .then(() => vi.waitUntil(() => tookMs.length > moreThan, enough))
        .finally(() => {
          stop.abort()
          return sending
        })
    },
  }
}

function plainEvent(number: number): Record<string, unknown> {
  return {
    event_name: 'pageview',
    url: 'https://example.com/pricing?utm_source=news&utm_medium=email',
    anonymous_id: `visitor-${number % 500}`,
    session_id: `session-${number % 500}`,
  }
}

export interface Verdict {
  /** Acknowledged and not in `events`. */
  readonly lost: number
  /** Stored more than once. */
  readonly doubled: number
  /** Stored, although each time that it was sent it was refused. */
  readonly refused: number
}

export type StoredEvent = { id: number; title: string }
export const storedEventsSql = 'SELECT id, title FROM events'
export const exact: Verdict = { lost: 0, doubled: 0, refused: 0 }

/** Compares the ledger with what is stored: the rows of `storedEventsSql`, those of others among them. */
export function judge(ledger: Ledger, rows: readonly StoredEvent[]): Verdict {
  const ids = new Set<number>()
  const marks = new Map<string, number[]>()
  let doubled = 0
  for (const { id, title } of rows) {
    if (ids.has(id)) doubled++
    ids.add(id)
    if (!title.startsWith(ledger.prefix)) continue
    const before = marks.get(title)
    if (before) doubled++
    marks.set(title, [...(before ?? []), id])
  }
  let lost = 0
  for (const [mark, { hasId, id }] of ledger.told) {
    const isStored = hasId ? marks.has(mark) : id !== null && marks.get(mark)?.includes(id)
    if (id !== null && !isStored) lost++
  }
  let refused = 0
  for (const mark of marks.keys()) {
    const event = ledger.told.get(mark)
    if (event === undefined || (event.id === null && !event.isUnanswered)) refused++
  }
  return { lost, doubled, refused }
}
