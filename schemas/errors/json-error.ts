/**
 * Where and why a text is no JSON, in the words and by the positions of Python's `json`, whose answers are part of the
 * contract. It runs only on what `JSON.parse` has refused, and within the depth that was checked before.
 */

export interface JsonError {
  /** Counted in characters (code points). */
  readonly position: number
  readonly problem: string
}

export function describeJsonError(text: string): JsonError {
  try {
    const end = skipBlanks(text, scanValue(text, skipBlanks(text, 0)))
    if (end < text.length) fail('Extra data', end)
  } catch (error) {
    if (!(error instanceof ScanError)) throw error
    return { position: codePointsBefore(text, error.at), problem: error.message }
  }
  return { position: 0, problem: 'Expecting value' }
}

class ScanError extends Error {
  readonly at: number
  constructor(problem: string, at: number) {
    super(problem)
    this.at = at
  }
}

function fail(problem: string, at: number): never {
  throw new ScanError(problem, at)
}

/** Each scanner takes the index at which its value begins and returns the one behind it. */
function scanValue(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return scanString(text, at)
  if (first === '{') return scanObject(text, at)
  if (first === '[') return scanList(text, at)
  for (const word of ['null', 'true', 'false']) if (text.startsWith(word, at)) return at + word.length
  const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
  number.lastIndex = at
  return number.test(text) ? number.lastIndex : fail('Expecting value', at)
}

function scanObject(text: string, start: number): number {
  let at = skipBlanks(text, start + 1)
  if (text[at] === '}') return at + 1
  for (;;) {
    if (text[at] !== '"') fail('Expecting property name enclosed in double quotes', at)
    at = skipBlanks(text, scanString(text, at))
    if (text[at] !== ':') fail("Expecting ':' delimiter", at)
    at = skipBlanks(text, scanValue(text, skipBlanks(text, at + 1)))
    if (text[at] === '}') return at + 1
    if (text[at] !== ',') fail("Expecting ',' delimiter", at)
    at = skipBlanks(text, at + 1)
  }
}

function scanList(text: string, start: number): number {
  let at = skipBlanks(text, start + 1)
  if (text[at] === ']') return at + 1
  for (;;) {
    at = skipBlanks(text, scanValue(text, at))
    if (text[at] === ']') return at + 1
    if (text[at] !== ',') fail("Expecting ',' delimiter", at)
    at = skipBlanks(text, at + 1)
  }
}

function scanString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') return at + 1
    if (character < ' ') fail('Invalid control character at', at)
    if (character !== '\\') continue
    const escaped = text[++at]
    if (escaped === undefined) break
    if (escaped === 'u') {
      // Python wants a character behind the four digits, were it only the closing quote.
      if (at + 5 >= text.length || !/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) {
        fail('Invalid \\uXXXX escape', at)
      }
      at += 4
    } else if (!'"\\/bfnrt'.includes(escaped)) fail('Invalid \\escape', at - 1)
  }
  return fail('Unterminated string starting at', start)
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++
  return at
}

function codePointsBefore(text: string, end: number): number {
  let count = 0
  for (let at = 0; at < end; at++) {
    // The second half of a pair is no character of its own; the text was decoded from UTF-8, so pairs are whole.
    if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count++
  }
  return count
}
