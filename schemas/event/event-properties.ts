/**
 * The bounds of an event's free-form `properties`: keys, depth and bytes of JSON. `fitsProperties` is on the path of
 * every event; `explainProperties` says what is wrong with what it refuses.
 */

import { dictTooLong, finiteNumber, type Loc, type ValidationError, valueError } from '../errors/validation-errors.ts'
import { propertiesBytesMax, propertiesDepthMax, propertiesKeysMax } from '../limits/event-limits.ts'

type Container = Readonly<Record<string, unknown>> | readonly unknown[]

/** Bytes of JSON that one UTF-16 unit of a text needs at most: an escape, `\u0001`. */
const bytesPerUnitMax = 6
/** The longest number is `-1.2345678901234567e-300`; quotes, colon and comma come on top. */
const bytesPerValueMax = 30

/** Whether `properties` are within their bounds. They come from a parsed body, which is no deeper than 64. */
export function fitsProperties(properties: Readonly<Record<string, unknown>>): boolean {
  const bytes = bytesAtMost(properties, 1)
  if (bytes <= propertiesBytesMax) return true
  return bytes !== Number.POSITIVE_INFINITY && jsonBytes(properties) <= propertiesBytesMax
}

/** Errors of `properties`; none where `fitsProperties` takes them. */
export function explainProperties(loc: Loc, properties: Readonly<Record<string, unknown>>): ValidationError[] {
  const count = Object.keys(properties).length
  if (count > propertiesKeysMax) return [dictTooLong(loc, properties, propertiesKeysMax, count)]
  const fault = findFault(loc, properties, 1)
  if (fault !== null) return [fault]
  if (jsonBytes(properties) <= propertiesBytesMax) return []
  return [valueError(loc, properties, `properties should have at most ${propertiesBytesMax} bytes of JSON`)]
}

/** A bound of the JSON's bytes that is cheap to have, or infinity where keys, depth or a number break a rule. */
function bytesAtMost(container: Container, depth: number): number {
  let bytes = 2
  let keys = 0
  for (const key in container) {
    keys++
    const value = (container as Record<string, unknown>)[key]
    bytes += key.length * bytesPerUnitMax + bytesPerValueMax
    if (typeof value === 'string') bytes += value.length * bytesPerUnitMax
    else if (typeof value === 'number') {
      if (!Number.isFinite(value)) return Number.POSITIVE_INFINITY
    } else if (typeof value === 'object' && value !== null) {
      if (depth === propertiesDepthMax) return Number.POSITIVE_INFINITY
      bytes += bytesAtMost(value as Container, depth + 1)
    }
  }
  return depth === 1 && keys > propertiesKeysMax ? Number.POSITIVE_INFINITY : bytes
}

function jsonBytes(properties: Readonly<Record<string, unknown>>): number {
  return Buffer.byteLength(JSON.stringify(properties))
}

/** The first value that stands too deep or is no finite number. */
function findFault(loc: Loc, value: unknown, depth: number): ValidationError | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return finiteNumber(loc, value)
  if (typeof value !== 'object' || value === null) return null
  if (depth > propertiesDepthMax) {
    return valueError(loc, value, `properties should not be nested deeper than ${propertiesDepthMax} levels`)
  }
  for (const [key, member] of Object.entries(value)) {
    const fault = findFault([...loc, Array.isArray(value) ? Number(key) : key], member, depth + 1)
    if (fault !== null) return fault
  }
  return null
}
