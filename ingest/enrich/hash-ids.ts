/**
 * Who an event belongs to, as hashes that mean nothing outside the workspace.
 *
 * The visitor is a hash of the `anonymous_id`. Without one and without an e-mail, it is a hash of address and user
 * agent under the salt of the day of receipt. Otherwise there is none: a server event.
 * The session is a hash of the `session_id`. Without one, each visitor has one session a UTC day.
 * Both are fixed here, from the event's own fields; nothing learned later changes them.
 */
import { createHash } from 'node:crypto'
import { deriveHashKey, halfSipHash, hash64, hashed } from '../../runtime/crypto/hash.ts'
import { emailKeyOf, visitorKeyOf } from '../../runtime/crypto/identity-hash.ts'
import { networkOf } from '../../runtime/http/network-of.ts'
import { emailOf, identifierOf } from '../../schemas/event/identifiers.ts'
import type { EventRow, Hash64 } from '../../schemas/event/row.ts'
import { visitorCacheMax } from '../../schemas/limits/ingest-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { Facts, Step, Verdict } from './facts.ts'
import { SaltedCache, type SaltOfDay } from './salted-cache.ts'

export interface HashIdsOptions {
  readonly secretKey: string
  readonly salts: SaltOfDay
}

export function hashIds({ secretKey, salts }: HashIdsOptions): Step {
  const namedVisitorOf = makeNamedVisitors(secretKey)
  const namedSessionOf = makeNamedSessions(secretKey)
  const dayKey = deriveHashKey(secretKey, 'sessions of a day')
  const emailKey = emailKeyOf(secretKey)
  const unnamed = makeUnnamedVisitors(salts)
  const sessionOf = makeDaySessions(dayKey)

  return (facts: Facts): Verdict => {
    const { event, sender, workspace, agent, row } = facts
    const anonymousId = identifierOf(event.anonymous_id)
    const email = emailOf(event.email)
    if (email === null) facts.countDropped('invalid_email')
    facts.email = email ?? ''
    row.anonymous_id = anonymousId ?? ''
    if (facts.email === '') clear(row.email_hash)
    else {
      hash64(emailKey, workspace.id, facts.email)
      takeHash(row.email_hash)
    }
    if (anonymousId !== null) {
      namedVisitorOf(workspace.id, anonymousId, row.visitor)
    } else if (facts.email === '') {
      const { hi, lo } = unnamed(workspace.id, event.ip || sender.address, agent.text, sender.receivedAt)
      row.visitor.hi = hi
      row.visitor.lo = lo
    } else {
      clear(row.visitor)
      row.session = 0
      row.session_named = 0
      return undefined
    }
    const sessionId = identifierOf(event.session_id)
    row.session_named = sessionId === null ? 0 : 1
    if (sessionId === null) row.session = sessionOf(row)
    else row.session = namedSessionOf(workspace.id, sessionId)
    return undefined
  }
}

/** The session of an id, as all that happens in it has it. */
export function makeNamedSessions(secretKey: string): (workspaceId: number, sessionId: string) => number {
  const key = deriveHashKey(secretKey, 'sessions')
  return (workspaceId, sessionId) => {
    hash64(key, workspaceId, sessionId)
    return hashOf53Bits()
  }
}

/** The visitor of a browser's id, put into `visitor`. */
export function makeNamedVisitors(
  secretKey: string,
): (workspaceId: number, anonymousId: string, visitor: Hash64) => void {
  const key = visitorKeyOf(secretKey)
  return (workspaceId, anonymousId, visitor) => {
    hash64(key, workspaceId, anonymousId)
    takeHash(visitor)
  }
}

/** The session of a visitor's events of one UTC day that name none. */
function makeDaySessions(key: ReturnType<typeof deriveHashKey>): (row: EventRow) => number {
  const words = new Uint32Array(4)
  const bytes = new Uint8Array(words.buffer)
  return ({ workspace_id: workspaceId, visitor, occurred_at: occurredAt }) => {
    words[0] = workspaceId
    words[1] = visitor.hi
    words[2] = visitor.lo
    words[3] = Math.floor(occurredAt / dayMs)
    halfSipHash(key, bytes, bytes.length)
    return hashOf53Bits()
  }
}

export type UnnamedVisitors = (workspaceId: number, address: string, userAgent: string, receivedAt: number) => Hash64

/** Remembers the day's visitors, as SHA-256 is dear; salt, address and agent are in no hash that outlives the salt. */
export function makeUnnamedVisitors(salts: SaltOfDay): UnnamedVisitors {
  const known = new SaltedCache<Hash64>(salts, visitorCacheMax)
  return (workspaceId, address, userAgent, receivedAt) => {
    const salt = known.saltAt(receivedAt)
    const who = `${workspaceId}\n${address}\n${userAgent}`
    let visitor = known.get(who)
    if (visitor === undefined) {
      const network = networkOf(address)
      const digest = createHash('sha256').update(salt).update(`${workspaceId}\n${network}\n${userAgent}`).digest()
      visitor = { hi: digest.readUInt32LE(4), lo: digest.readUInt32LE(0) || 1 }
      known.set(who, visitor)
    }
    return visitor
  }
}

/** Zero means "none": no hash is zero. */
function takeHash(into: Hash64): void {
  into.hi = hashed.hi
  into.lo = hashed.lo || 1
}

function clear(hash: Hash64): void {
  hash.hi = 0
  hash.lo = 0
}

/** Sessions are numbers in JSON. */
function hashOf53Bits(): number {
  return (hashed.hi & 0x1fffff) * 2 ** 32 + (hashed.lo || 1)
}
