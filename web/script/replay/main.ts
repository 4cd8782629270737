/**
 * The third file, `GET /svc.js?replay=…`: it records the page as its visitor sees it, by rrweb. It is fetched only where
 * replay is on and the session is one of those to record, and never before consent: vitals-and-clicks.ts asks for it.
 *
 *   main.ts     begins and ends recordings
 *   masking.ts  what an event must not hold
 *   sender.ts   chunks on their way
 *   pack.ts     gzip and base64
 */
import { record } from '@rrweb/record'
import type { eventWithTime } from '@rrweb/types'
import {
  chunkCharactersMax,
  chunkMs,
  lastChunkBytesMax,
  replayCharactersMax,
  replayIdleMs,
  replayMsMax,
} from '../bounds.ts'
import { guard, on } from '../listen.ts'
import { addressOf, makeId, sessionIdOf } from '../sessions.ts'
import { blocked, mask, maskEvent } from './masking.ts'
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

  function begin(): void {
    const ids = readIds()
    if (running || !ids || !isWanted(ids.session_id)) return
    const now = Date.now()
    const recording = { tracking_key: key, page_id: makeId(), ...ids }
    const mine: Running = {
      ...{ sender: new Sender(address, recording, pack, () => end(mine)), startedAt: now, activeAt: now },
      ...{ session: ids.session_id, stop: () => {}, sequence: 0, url: '', parts: [], characters: 0, timer: undefined },
    }
    running = mine
    const stop = record({
      emit: guard((event: eventWithTime) => take(mine, event)),
      ...{ blockClass: 'svc-block', blockSelector: blocked, maskTextSelector: '*', maskTextFn: mask },
      ...{ maskAllInputs: true, maskInputFn: mask, slimDOMOptions: 'all', inlineImages: false },
      ...{ recordCanvas: false, collectFonts: false, recordCrossOriginIframes: false },
      sampling: { scroll: 150, input: 'last', media: 800 },
      // Nothing of ours may throw into the page.
      errorHandler: () => true,
    })
    mine.stop = guard(() => stop?.())
  }

  function take(mine: Running, event: eventWithTime): void {
    if (running !== mine) return
    const { type, data } = event as { type: number; data: { source?: number } }
    const now = Date.now()
    const isAct = type === 3 && acts.includes(data.source!)
    if (now - mine.activeAt > replayIdleMs || now - mine.startedAt > replayMsMax) return end(mine, isAct)
    if (isAct) mine.activeAt = now
    const url = addressOf(location.href)
    // A chunk is of one page.
    if (url !== mine.url) flush(mine)
    mine.url = url
    maskEvent(event)
    const text = JSON.stringify(event)
    mine.parts.push(text)
    mine.characters += text.length
    if (mine.characters > chunkCharactersMax) flush(mine)
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
    if (!ids) return end(mine)
    mine.sender.put({ sequence: mine.sequence++, url: mine.url, text: `[${mine.parts.join(',')}]` })
    mine.parts = []
    mine.characters = 0
    if (ids.session_id !== mine.session) end(mine, true)
    else if (mine.sender.sent > replayCharactersMax) end(mine)
  }

  /** @param isAgain another recording may follow, as another session's */
  function end(mine: Running, isAgain?: boolean): void {
    if (running !== mine) return
    running = undefined
    clearTimeout(mine.timer)
    mine.stop()
    if (isAgain) setTimeout(guard(begin))
    else mine.sender.end()
  }

  const withdraw = () => {
    if (running && !readIds()) end(running)
  }
  const { consent } = Svc
  Svc.consent = (isGiven) => {
    consent(isGiven)
    guard(isGiven === true ? begin : withdraw)()
  }
  on('storage', withdraw)
  on('visibilitychange', () => document.hidden && running && flush(running))
  on('pagehide', () => {
    if (!running) return
    flush(running)
    running?.sender.sendAtEnd(packAtOnce, lastChunkBytesMax)
  })
  guard(begin)()
}

/** Without prolonging the session: watching a page is no act of its visitor. Undefined without consent. */
function readIds(): { anonymous_id: string; session_id: string } | undefined {
  const anonymous_id = Svc.anonymousId()
  if (!anonymous_id) return
  let stored: string | undefined
  try {
    stored = localStorage['svc_sid']
  } catch {}
  const session_id = stored ? sessionIdOf(stored, anonymous_id) : Svc.sessionId()
  if (session_id) return { anonymous_id, session_id }
}
