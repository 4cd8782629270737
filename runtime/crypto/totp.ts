/**
 * Codes of an authenticator app: RFC 6238 with SHA-1, 30 seconds and 6 digits, which every app has. Held by
 * test/unit/totp.test.ts.
 */
import { Secret, TOTP } from 'otpauth'

const settings = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** As many as SHA-1 gives, which RFC 4226 recommends. */
const secretBytes = 20
/** Steps that a phone's clock may be off, either way. */
const driftSteps = 1

const codeShape = /^\d{6}$/

/** In base32, as apps take it by hand. */
export function makeTotpSecret(): string {
  return new Secret({ size: secretBytes }).base32
}

/**
 * @param code spaces in it don't count, as apps show `123 456`
 * @param now milliseconds since 1970
 * @returns the code's time step, of 30 seconds since 1970; null if it isn't the code of this step or one near it
 */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  const token = code.replace(/\s/g, '')
  if (!codeShape.test(token)) return null
  const totp = new TOTP({ ...settings, secret: Secret.fromBase32(secret) })
  const drift = totp.validate({ token, timestamp: now, window: driftSteps })
  return drift === null ? null : TOTP.counter({ period: settings.period, timestamp: now }) + drift
}

/** The address that a QR code hands to an app. @param issuer the service, as the app shows it beside the account */
export function totpUri(secret: string, issuer: string, account: string): string {
  return new TOTP({ ...settings, issuer, label: account, secret: Secret.fromBase32(secret) }).toString()
}
