/** Passwords of people as argon2id hashes: each takes 19 MiB of memory and some 20 ms of a core, off the event loop. */
import { randomUUID } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

/** @returns the hash with its parameters and salt, to be stored as it is */
export function hashPassword(password: string): Promise<string> {
  return hash(password)
}

let nobodys: Promise<string> | undefined

/** Whether the password is the one of the hash. Without a hash it takes as long and says no, so that nobody learns who has one. */
export async function isPasswordOf(password: string, stored: string | undefined): Promise<boolean> {
  nobodys ??= hashPassword(randomUUID())
  const isRight = await verify(stored ?? (await nobodys), password)
  return isRight && stored !== undefined
}
