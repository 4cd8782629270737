/**
 * The kinds of key: how they are made and recognised.
 *
 * Secret key: `svc_sk_` + 32 random base62 characters + the CRC-32 of all that in 6 base62 characters. A mistyped or
 * made-up key is so refused without a look-up. Only its SHA-256 and a prefix to show are ever stored.
 * Token of a shared link: the same behind `svc_view_`. Access token of a connected app: behind `svc_at_`.
 * Refresh token of a connected app: its family, made as a secret key behind `svc_rt_`, a dot, and a link token for its turn.
 * Public (tracking) key: `svc_pk_` + 24 random base62 characters; it stands in web pages.
 * Attribution key: 8 random base62 characters, the path of a short link whose key nobody chose (link-key.ts).
 * Link token: 32 random bytes in base64url, for sessions of browsers and for links that sign in or invite.
 * Recovery code: 80 random bits in 16 characters of Crockford's base32, in groups of four. People type it.
 */
import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretStart = 'svc_sk_'
const sharedStart = 'svc_view_'
const accessStart = 'svc_at_'
const familyStart = 'svc_rt_'
const trackingStart = 'svc_pk_'
const secretRandomLength = 32
const checksumLength = 6
const trackingRandomLength = 24
const attributionKeyLength = 8
const recoveryAlphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const recoveryCodeLength = 16
/** Characters of the random part that the shown prefix holds: enough to tell keys apart, nothing to guess from. */
const shownLength = 6

const shapeBehind = (...starts: string[]) =>
  new RegExp(`^(?:${starts.join('|')})[0-9A-Za-z]{${secretRandomLength + checksumLength}}$`)
const secretShape = shapeBehind(secretStart, sharedStart)
const accessShape = shapeBehind(accessStart)
const familyShape = shapeBehind(familyStart)
const trackingShape = new RegExp(`^${trackingStart}[0-9A-Za-z]{${trackingRandomLength}}$`)

/** A new secret key. It is shown once: keep `sha256Of` and `secretKeyPrefix` of it, never the key. */
export function makeSecretKey(): string {
  return makeSecret(secretStart)
}

/** A new token of a shared link, which is kept and recognised as a secret key is. */
export function makeSharedToken(): string {
  return makeSecret(sharedStart)
}

/**
 * Whether `text` has the shape and checksum of a secret key or a shared link's token. More can't be known without a
 * look-up.
 */
export function isWellFormedSecretKey(text: string): boolean {
  return secretShape.test(text) && hasChecksum(text)
}

/** Whether `text` has the shape and the checksum of an access token. */
export function isWellFormedAccessToken(text: string): boolean {
  return accessShape.test(text) && hasChecksum(text)
}

/** The two parts of a refresh token, which is written with a dot between them. */
export interface RefreshToken {
  /** The same in all refresh tokens of a connection. */
  readonly family: string
  /** Replaced at each use. */
  readonly turn: string
}

/** The part of a new refresh token that stays. */
export function makeTokenFamily(): string {
  return makeSecret(familyStart)
}

/**
 * The tokens that a turn is exchanged for. They are computed, so that a turn gives the same ones again. Nobody can who lacks
 * either the turn or the salt. Keep `sha256Of` of each.
 * @param salt 32 random bytes, new for each turn
 */
export function nextTokens(turn: string, salt: Buffer): { readonly turn: string; readonly accessToken: string } {
  const derive = (use: string) => createHmac('sha256', salt).update(`${use} ${turn}`).digest()
  // 62 doesn't divide 256: the first letters are likelier by a quarter, which costs a bit of the whole.
  const letters = Array.from(derive('access'), (byte) => base62[byte % 62]).join('')
  return { turn: derive('refresh').toString('base64url'), accessToken: withChecksum(accessStart + letters) }
}

/** Null where `text` has not the shape and the checksum of a refresh token. */
export function readRefreshToken(text: string): RefreshToken | null {
  const [family = '', turn = '', ...rest] = text.split('.')
  const isWhole = rest.length === 0 && familyShape.test(family) && hasChecksum(family) && isLinkToken(turn)
  return isWhole ? { family, turn } : null
}

/** The part of a secret key that may be shown and stored. */
export function secretKeyPrefix(key: string): string {
  return key.slice(0, shownLength - secretRandomLength - checksumLength)
}

export function makeTrackingKey(): string {
  return trackingStart + randomBase62(trackingRandomLength)
}

/** Whether `text` has the shape of a tracking key. Whether there is such a key, only the key table knows. */
export function isTrackingKeyShaped(text: string): boolean {
  return trackingShape.test(text)
}

/** A new token of a session or a link. It is given out once: keep `sha256Of` of it. */
export function makeLinkToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether `text` has the shape of such a token. Whether it is one, only its table knows. */
export function isLinkToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/** The end of a short link: 47 random bits, so that two links seldom get the same. */
export function makeAttributionKey(): string {
  return randomBase62(attributionKeyLength)
}

/** A new recovery code of a second factor. It is shown once: keep `sha256Of(readRecoveryCode(code))` of it. */
export function makeRecoveryCode(): string {
  const letters = Array.from({ length: recoveryCodeLength }, () => recoveryAlphabet[randomInt(32)]).join('')
  return letters.replace(/(.{4})(?=.)/g, '$1-')
}

/** A recovery code as it is hashed, however it was typed; null where the text has not the shape of one. */
export function readRecoveryCode(text: string): string | null {
  const letters = text.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1')
  return letters.length === recoveryCodeLength && /^[0-9a-hjkmnp-tv-z]+$/.test(letters) ? letters : null
}

/** Stored in place of a secret key, and looked up by. A plain hash is enough: the key holds 190 bits of randomness. */
export function sha256Of(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

function makeSecret(start: string): string {
  return withChecksum(start + randomBase62(secretRandomLength))
}

function withChecksum(body: string): string {
  return body + checksumOf(body)
}

function hasChecksum(text: string): boolean {
  return text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength))
}

function checksumOf(body: string): string {
  let text = ''
  for (let rest = crc32(body); text.length < checksumLength; rest = Math.floor(rest / 62)) {
    text = base62[rest % 62] + text
  }
  return text
}

function randomBase62(length: number): string {
  return Array.from({ length }, () => base62[randomInt(62)]).join('')
}
