/**
 * The third file, `GET /svc.js?replay=…`: it records the page as its visitor sees it, by rrweb. It is fetched only where
 * replay is on and the session is one of those to record, and never before consent: vitals-and-clicks.ts asks for it.
 *
 *   main.ts     begins and ends recordings
 *   masking.ts  masks an event
 *   sender.ts   chunks on their way
 *   pack.ts     gzip and base64
 */
import { record } from '@rrweb/record'
import type { eventWithTime } from '@rrweb/types'
import {
  chunkCharactersMax,
  chunkMs,
  elementsMax,
  lastChunkBytesMax,
  nextSessionMs,
  replayCharactersMax,
  replayIdleMs,
  replayMsMax,
} from '../bounds.ts'
import { guard, on } from '../listen.ts'
import { addressOf, makeId, nextSession, sessionIdOf } from '../sessions.ts'
import { blocked, isStyleElement, mask, maskEvent } from './masking.ts'
import { pack, packAtOnce } from './pack.ts'
import { Sender } from './sender.ts'

/** rrweb's sources of changes that a person makes: moves, clicks, scrolls, input, touches, media, drags. */
const acts = [1, 2, 3, 5, 6, 7, 12]

interface Running {
  readonly sender: Sender
  readonly startedAt: number
  readonly session: string
  stop(): void
  activeAt: number
  sequence: number
  /** The page of the chunk: each chunk belongs to one page. */
  page: string
  url: string
  parts: string[]
  characters: number
  timer: number | undefined
}

/**
 * @param address where chunks go
 * @param isWanted whether sessions like this one are recorded
 */
export default function recordPage(address: URL, key: string, isWanted: (session: string) => boolean): void {
  let running: Running | undefined
  /** Those of earlier recordings too: one that ended at a bound may still have chunks to send. */
  let senders: Sender[] = []
  /** A session whose recording has reached a bound, and gets no other from this page load. */
  let full = ''
  let hasFailed = false
  let waiting: number | undefined

  /** Waits where there is consent and no session to record, or too large a page. */
  function begin(): void {
    clearTimeout(waiting)
    const ids = readIds()
    if (running || hasFailed || !ids) return
    const { session_id } = ids
    const isLarge = document.getElementsByTagName('*').length > elementsMax
    if (session_id && session_id !== full && isWanted(session_id) && !isLarge) start({ ...ids, session_id })
    else waiting = setTimeout(guard(begin), nextSessionMs)
  }

  function start(ids: { anonymous_id: string; session_id: string }): void {
    const now = Date.now()
    const recording = { tracking_key: key, page_id: makeId(), ...ids }
    const mine: Running = {
      sender: new Sender(address, recording, pack, () => fail(mine)),
      startedAt: now,
      activeAt: now,
      session: ids.session_id,
      stop: () => {},
      sequence: 0,
      page: '',
      url: '',
      parts: [],
      characters: 0,
      timer: undefined,
    }
    running = mine
    senders = [...senders.filter((one) => one.hasChunks), mine.sender]
    const stop = record({
      emit: guard((event: eventWithTime) => take(mine, event)),
      blockClass: 'svc-block',
      blockSelector: blocked,
      maskTextSelector: '*',
      maskTextFn: (text, element) => (isStyleElement(element) ? text : mask(text)),
      maskAllInputs: true,
      maskInputFn: mask,
      slimDOMOptions: 'all',
      inlineImages: false,
      recordCanvas: false,
      collectFonts: false,
      recordCrossOriginIframes: false,
      sampling: { scroll: 150, input: 'last', media: 800 },
      // Nothing of ours may throw into the page.
      errorHandler: () => true,
    })
    mine.stop = guard(() => stop?.())
    // Its first events may have ended it.
    if (running !== mine) mine.stop()
  }

  function take(mine: Running, event: eventWithTime): void {
    if (running !== mine) return
    const { type, data } = event as { type: number; data: { source?: number } }
    const now = Date.now()
    if (now - mine.activeAt > replayIdleMs || now - mine.startedAt > replayMsMax) return finish(mine)
    if (type === 3 && acts.includes(data.source!)) {
      mine.activeAt = now
      unstored = undefined
    }
    const page = pageNow()
    if (page !== mine.page) flush(mine)
    if (running !== mine) return
    mine.page = page
    if (!mine.parts[0]) mine.url = addressOf(location.href)
    maskEvent(event, isStyle)
    const text = jsonOf(event)
    mine.parts.push(text)
    mine.characters += text.length
    // A snapshot leaves at once: nothing can be played without it, and a visit may be short.
    if (type === 2 || mine.characters > chunkCharactersMax) flush(mine)
    else
      mine.timer ||= setTimeout(
        guard(() => flush(mine)),
        chunkMs,
      )
  }

  function flush(mine: Running): void {
    mine.timer = clearTimeout(mine.timer) as undefined
    if (!mine.parts[0]) return
    const ids = readIds()
    if (!ids) return withdraw()
    mine.sender.put({ sequence: mine.sequence++, url: mine.url, text: `[${mine.parts.join(',')}]` })
    mine.parts = []
    mine.characters = 0
    if (ids.session_id !== mine.session || mine.sender.sent > replayCharactersMax) finish(mine)
  }

  /** At a bound, or with the session: its chunks are still sent, and the next session's recording may follow. */
  function finish(mine: Running): void {
    flush(mine)
    if (running !== mine) return
    full = mine.session
    end(mine)
    setTimeout(guard(begin))
  }

  function fail(mine: Running): void {
    hasFailed = true
    end(mine)
  }

  function end(mine: Running): void {
    if (running !== mine) return
    running = undefined
    clearTimeout(mine.timer)
    mine.stop()
  }

  function withdraw(): void {
    if (readIds()) return
    for (const sender of senders) sender.end()
    if (running) end(running)
  }
  const { consent } = Svc
  Svc.consent = (isGiven) => {
    consent(isGiven)
    guard(isGiven === true ? begin : withdraw)()
  }
  // Without a recording, rrweb reports no activity, so these listeners do.
  for (const act of ['pointerdown', 'keydown'] as const)
    on(
      act,
      () => {
        unstored = undefined
      },
      true,
    )
  on('storage', withdraw)
  on('visibilitychange', () => document.hidden && running && flush(running))
  on('pagehide', () => {
    if (running) flush(running)
    for (const sender of senders) sender.sendAtEnd(packAtOnce, lastChunkBytesMax)
  })
  guard(begin)()
}

/** Origin, path and hash route (`#/…`, `#!…`), because ingest counts the route as part of the path. */
function pageNow(): string {
  const { origin, pathname, hash } = location
  return origin + pathname + (/^#[/!][^?]*/.exec(hash)?.[0] || '')
}

function isStyle(id: number): boolean {
  const node = record.mirror.getNode(id)
  return isStyleElement(node?.nodeType === 3 ? node.parentElement : node)
}

/** Old versions of Prototype.js give arrays a `toJSON` that turns them into strings. */
function jsonOf(event: eventWithTime): string {
  const theirs = Object.getOwnPropertyDescriptor(Array.prototype, 'toJSON')
  if (!theirs) return JSON.stringify(event)
  delete (Array.prototype as { toJSON?: unknown }).toJSON
  try {
    return JSON.stringify(event)
  } finally {
    Object.defineProperty(Array.prototype, 'toJSON', theirs)
  }
}

/** The session of a page without storage. It is cached until the visitor acts, because asking `Svc` prolongs it. */
let unstored: string | null | undefined

/**
 * Without prolonging the session: watching a page is no act of its visitor. Undefined without consent; without a session
 * where the stored one is over and the visitor hasn't begun another.
 */
function readIds(): { anonymous_id: string; session_id: string | null } | undefined {
  const anonymous_id = Svc.anonymousId()
  if (!anonymous_id) return
  let stored: string | undefined
  try {
    stored = localStorage['svc_sid']
  } catch {}
  if (!stored) {
    if (!unstored?.endsWith(`.${anonymous_id}`)) unstored = Svc.sessionId()
    return { anonymous_id, session_id: unstored }
  }
  unstored = undefined
  const session_id = sessionIdOf(stored, anonymous_id)
  const goesOn = sessionIdOf(nextSession(stored, Date.now()), anonymous_id) === session_id
  return { anonymous_id, session_id: goesOn ? session_id : null }
}
