/**
 * How each provider signs its events: an HMAC-SHA-256 over the raw body, most with the time of sending. Compared in constant
 * time. Lemon Squeezy signs no time: a repeat of its events is told by the ledger alone.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { revenueToleranceMs, signaturesPerEventMax } from '../../schemas/limits/revenue-limits.ts'
import type { RevenueProvider } from '../../schemas/revenue.ts'

type Headers = ReadonlyMap<string, string>

interface Signed {
  /** Text that was signed before the body. */
  readonly prefix: string
  /** Seconds since 1970; undefined where the scheme has none. */
  readonly sentAt: number | undefined
  /** Any of them will do: while a secret is rotated there are two. */
  readonly signatures: readonly Buffer[]
}

const schemes: Readonly<Record<RevenueProvider, (headers: Headers) => Signed | undefined>> = {
  stripe: (headers) => listed(headers.get('stripe-signature'), { separator: ',', time: 't', hash: 'v1', joint: '.' }),
  paddle: (headers) => listed(headers.get('paddle-signature'), { separator: ';', time: 'ts', hash: 'h1', joint: ':' }),
  lemonsqueezy: (headers) => {
    const signature = headers.get('x-signature')
    return signature === undefined ? undefined : { prefix: '', sentAt: undefined, signatures: [hex(signature)] }
  },
  custom: standardWebhook,
}

/** Whether the headers hold a signature of that provider, made about `now` (milliseconds since 1970). */
export function hasRecentSignature(provider: RevenueProvider, headers: Headers, now: number): boolean {
  return recentSignature(provider, headers, now) !== undefined
}

/** Whether the body was signed with `secret`, at about `now`. */
export function isSignedBy(
  secret: string,
  { provider, headers, body, now }: { provider: RevenueProvider; headers: Headers; body: Buffer; now: number },
): boolean {
  const signed = recentSignature(provider, headers, now)
  if (signed === undefined) return false
  const expected = createHmac('sha256', keyOf(provider, secret)).update(signed.prefix).update(body).digest()
  // Each is compared, whichever matches.
  return (
    signed.signatures.filter((each) => each.length === expected.length && timingSafeEqual(each, expected)).length > 0
  )
}

const standardSecret = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/

/** Whether the provider could have given out such a secret. */
export function isSecretShaped(provider: RevenueProvider, secret: string): boolean {
  return provider === 'custom' ? standardSecret.test(secret) : /^[!-~]{6,255}$/.test(secret)
}

function recentSignature(provider: RevenueProvider, headers: Headers, now: number): Signed | undefined {
  const signed = schemes[provider](headers)
  if (signed?.sentAt === undefined) return signed
  return Math.abs(signed.sentAt * 1000 - now) <= revenueToleranceMs ? signed : undefined
}

interface ListedScheme {
  readonly separator: string
  readonly time: string
  readonly hash: string
  /** Between the time and the body. */
  readonly joint: string
}

/** `t=1732000000,v1=ab…,v1=cd…` */
function listed(header: string | undefined, { separator, time, hash, joint }: ListedScheme): Signed | undefined {
  const parts = (header ?? '').split(separator, signaturesPerEventMax).map((part) => part.trim().split('=', 2))
  const sent = parts.find(([name]) => name === time)?.[1] ?? ''
  if (!/^\d{1,12}$/.test(sent)) return undefined
  const signatures = parts.flatMap(([name, value]) => (name === hash && value !== undefined ? [hex(value)] : []))
  return { prefix: `${sent}${joint}`, sentAt: Number(sent), signatures }
}

/** As https://www.standardwebhooks.com says: several signatures stand apart by spaces, each behind its version. */
function standardWebhook(headers: Headers): Signed | undefined {
  const [id, sent] = [headers.get('webhook-id'), headers.get('webhook-timestamp') ?? '']
  if (!id || !/^\d{1,12}$/.test(sent)) return undefined
  const signatures = (headers.get('webhook-signature') ?? '')
    .split(' ', signaturesPerEventMax)
    .flatMap((part) => (part.startsWith('v1,') ? [Buffer.from(part.slice('v1,'.length), 'base64')] : []))
  return { prefix: `${id}.${sent}.`, sentAt: Number(sent), signatures }
}

function keyOf(provider: RevenueProvider, secret: string): Buffer {
  return provider === 'custom' ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret, 'utf8')
}

function hex(text: string): Buffer {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.alloc(0)
}
