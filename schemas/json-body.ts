/**
 * From the bytes of a body to its JSON value, or to the answer that refuses it. Shared by ingest, where it is on the
 * path of every event, and by the API.
 *
 * The common body passes three searches of V8's and one `JSON.parse`. The exact scan of its brackets and numbers runs
 * only where those can't rule a violation out. An empty body is the value undefined, JSON `null` is null. The caller
 * decides about both: `missingBody()` of validation-errors.ts, where a body is needed.
 *
 * Held by test/unit/json-body.test.ts and test/property/json-body.test.ts.
 */
import { isUtf8 } from 'node:buffer'
import { describeJsonError } from './errors/json-error.ts'
import { problems } from './errors/problems.ts'
import { jsonInvalid, type ValidationError } from './errors/validation-errors.ts'
import { findUnstorableText } from './json-text.ts'
import { jsonDepthMax, jsonNumberDigitsMax } from './limits/event-limits.ts'

export interface JsonValue {
  readonly value: unknown
  /** Some text of it holds NUL or a lone surrogate. Its readers know whether that matters to them. */
  readonly hasUnstorableText: boolean
}

export type JsonBody =
  | ({ readonly ok: true } & JsonValue)
  | { readonly ok: false; readonly status: 400; readonly detail: string }
  | { readonly ok: false; readonly status: 422; readonly detail: ValidationError[] }

const unreadable: JsonBody = { ok: false, ...problems.body_unparsable }

/**
 * 400 for bytes that are not UTF-8, nesting deeper than 64 and number literals over 400 digits; 422 for malformed JSON.
 * A byte order mark is skipped.
 */
export function parseJsonBody(bytes: Buffer): JsonBody {
  let text = bytes.toString('utf8')
  // Decoding puts U+FFFD where bytes are no UTF-8; looking for it costs nothing in a text of Latin characters.
  if (text.includes('\ufffd') && !isUtf8(bytes)) return unreadable
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1)
  if (text === '') return { ok: true, value: undefined, hasUnstorableText: false }
  if (mayExceedLimits(text) && exceedsJsonLimits(text)) return unreadable
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuseMalformed(text)
  }
  return { ok: true, value, hasUnstorableText: mayHoldUnstorableText(text) && findUnstorableText([], value).length > 0 }
}

/** Only an escape can bring in NUL or half a pair: UTF-8 and JSON don't let them through as they are. */
function mayHoldUnstorableText(text: string): boolean {
  return text.includes('\\u') && (text.includes('\\u0000') || text.includes('\\ud') || text.includes('\\uD'))
}

function refuseMalformed(text: string): JsonBody {
  // The quick look before the parse relies on well-formed JSON.
  if (exceedsJsonLimits(text)) return unreadable
  const { position, problem } = describeJsonError(text)
  return { ok: false, status: 422, detail: [jsonInvalid(position, problem)] }
}

/** False only where the exact scan would find nothing, provided that `text` is well-formed JSON. */
function mayExceedLimits(text: string): boolean {
  return (hasManyOpeners(text) && mayBeDeep(text)) || mayHoldLongNumber(text)
}

/** Depth needs as many opening brackets: most bodies have a handful. */
function hasManyOpeners(text: string): boolean {
  let count = 0
  for (const opener of ['{', '[']) {
    for (let at = text.indexOf(opener); at >= 0; at = text.indexOf(opener, at + 1)) {
      if (++count > jsonDepthMax) return true
    }
  }
  return false
}

/**
 * Follows the brackets as if none stood in a string. An opening one in a string only makes the result larger. A closing
 * one counts only when it is certain to stand outside; otherwise the exact scan has to tell.
 */
function mayBeDeep(text: string): boolean {
  let depth = 0
  let brace = indexOrEnd(text, '{', 0)
  let bracket = indexOrEnd(text, '[', 0)
  let braceEnd = indexOrEnd(text, '}', 0)
  let bracketEnd = indexOrEnd(text, ']', 0)
  for (;;) {
    const open = Math.min(brace, bracket)
    const close = Math.min(braceEnd, bracketEnd)
    if (open === close) return false // Both at the end of the text.
    if (open < close) {
      if (++depth > jsonDepthMax) return true
      if (open === brace) brace = indexOrEnd(text, '{', open + 1)
      else bracket = indexOrEnd(text, '[', open + 1)
    } else {
      if (!isOutsideStrings(text, close)) return true
      depth--
      if (close === braceEnd) braceEnd = indexOrEnd(text, '}', close + 1)
      else bracketEnd = indexOrEnd(text, ']', close + 1)
    }
  }
}

function indexOrEnd(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from)
  return at < 0 ? text.length : at
}

/**
 * True when the nearest quote before `at` ends a string. An opening quote of well-formed JSON follows one of `{[,:`,
 * blanks or the beginning, and one within a string a backslash. Looks back a little only; false means unknown.
 */
function isOutsideStrings(text: string, at: number): boolean {
  for (let quote = at - 1; quote > 0 && quote > at - 64; quote--) {
    if (text.charCodeAt(quote) !== 0x22) continue
    const before = text.charCodeAt(quote - 1)
    return before > 0x20 && before !== 0x7b && before !== 0x5b && before !== 0x2c && before !== 0x3a && before !== 0x5c
  }
  return false
}

/** A literal of more than 400 characters covers one of every 401st: those are looked at, and around them. */
function mayHoldLongNumber(text: string): boolean {
  for (let probe = jsonNumberDigitsMax; probe < text.length; probe += jsonNumberDigitsMax + 1) {
    if (!isNumberCharacter(text.charCodeAt(probe))) continue
    let from = probe
    let to = probe
    while (probe - from <= jsonNumberDigitsMax && isNumberCharacter(text.charCodeAt(from - 1))) from--
    while (to - probe <= jsonNumberDigitsMax && isNumberCharacter(text.charCodeAt(to + 1))) to++
    if (to - from >= jsonNumberDigitsMax) return true
  }
  return false
}

/** Digits, signs, the point and the exponent; false for the NaN beyond either end of a text. */
function isNumberCharacter(code: number): boolean {
  return isDigit(code) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/**
 * The exact scan: one pass, without recursion, for malformed texts as well. `JSON.parse` takes seconds over megabytes of
 * opening brackets. So texts of somebody else's server are scanned before it.
 */
export function exceedsJsonLimits(text: string): boolean {
  let depth = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isDigit(code)) {
      if (++digits > jsonNumberDigitsMax) return true
      continue
    }
    if (isNumberCharacter(code)) continue
    digits = 0
    if (code === 0x22) at = endOfJsonString(text, at)
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > jsonDepthMax) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** Where the string that opens at `start` has its closing quote, or the text its end. */
export function endOfJsonString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return quote
  }
  return text.length
}
