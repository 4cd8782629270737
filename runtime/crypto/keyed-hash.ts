/** Hashes by which equal values are told and which nobody without SECRET_KEY can rebuild. */
import { createHmac } from 'node:crypto'
import { deriveKey } from './derived-key.ts'

/** Hex, 32 characters: HMAC-SHA-256 under a key of its own for each purpose, cut to 16 bytes. */
export type KeyedHash = (scope: string | number, value: string) => string

/** @param purpose hashes of different purposes can't be compared */
export function makeKeyedHash(secretKey: string, purpose: string): KeyedHash {
  const key = deriveKey(secretKey, purpose)
  return (scope, value) => createHmac('sha256', key).update(`${scope}\0${value}`).digest('hex').slice(0, 32)
}
