/**
 * Reads a chunk's events: they come packed, from anybody who knows a public key. Sizes, nodes and depth are bounded before
 * anything is parsed. The reader of a replay parses its chunks again.
 */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { endOfJsonString } from '../../schemas/json-body.ts'
import {
  replayChunkMsMax,
  replayDepthMax,
  replayEventsMax,
  replayJsonBytesMax,
  replayNodesMax,
  replayUnpackBesideBytesMax,
  replayUnpackRatioMax,
} from '../../schemas/limits/replay-limits.ts'

export interface ChunkFacts {
  /** By the visitor's clock, milliseconds since 1970. */
  readonly firstAt: number
  readonly durationMs: number
  readonly eventCount: number
  readonly clicks: number
  readonly jsonBytes: number
}

const unpack = promisify(gunzip)
/** rrweb's `EventType.IncrementalSnapshot`, `IncrementalSource.MouseInteraction`, `MouseInteractions.Click`. */
const incremental = 3
const mouseInteraction = 2
const click = 2
const eventTypeMax = 6

/** @returns null for text that isn't base64 of gzip, or unpacks to too much */
export async function unpackEvents(packed: string): Promise<Buffer | null> {
  const bytes = Buffer.from(packed, 'base64')
  // Node skips characters that are no base64; readers in other languages don't.
  if (bytes.toString('base64') !== packed) return null
  const maxOutputLength = Math.min(replayJsonBytesMax, bytes.length * replayUnpackRatioMax + replayUnpackBesideBytesMax)
  return unpack(bytes, { maxOutputLength }).catch(() => null)
}

/** JSON that is within the bounds of nodes and depth, but hasn't been parsed. */
export interface CountedEvents {
  readonly text: string
  readonly jsonBytes: number
  readonly nodes: number
}

/** @returns null for too many nodes, or too deep ones */
export function countEvents(json: Buffer): CountedEvents | null {
  const text = json.toString('utf8')
  const nodes = countNodes(text)
  return nodes === null ? null : { text, jsonBytes: json.length, nodes }
}

/** @returns null for text that is no list of rrweb's events */
export function readEvents({ text, jsonBytes }: CountedEvents): ChunkFacts | null {
  let events: unknown
  try {
    events = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(events) || events.length === 0 || events.length > replayEventsMax) return null
  let firstAt = Number.POSITIVE_INFINITY
  let lastAt = 0
  let clicks = 0
  for (const event of events as unknown[]) {
    if (!isEvent(event)) return null
    firstAt = Math.min(firstAt, event.timestamp)
    lastAt = Math.max(lastAt, event.timestamp)
    if (event.type === incremental && event.data['source'] === mouseInteraction && event.data['type'] === click) {
      clicks++
    }
  }
  const durationMs = lastAt - firstAt
  if (durationMs > replayChunkMsMax) return null
  return { firstAt, durationMs, eventCount: events.length, clicks, jsonBytes }
}

interface RecordedEvent {
  readonly type: number
  readonly timestamp: number
  readonly data: Readonly<Record<string, unknown>>
}

function isEvent(event: unknown): event is RecordedEvent {
  if (typeof event !== 'object' || event === null) return false
  const { type, timestamp, data } = event as Record<string, unknown>
  return (
    Number.isSafeInteger(timestamp) &&
    (timestamp as number) > 0 &&
    Number.isInteger(type) &&
    (type as number) >= 0 &&
    (type as number) <= eventTypeMax &&
    typeof data === 'object' &&
    data !== null
  )
}

/**
 * Follows brackets and commas outside strings. A deeper nesting couldn't be written again when it is read; more nodes would
 * hold up the thread while they are parsed.
 */
function countNodes(text: string): number | null {
  let depth = 0
  let nodes = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = endOfJsonString(text, at)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > replayDepthMax || ++nodes > replayNodesMax) return null
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2c && ++nodes > replayNodesMax) return null
  }
  return nodes
}
