/** An authenticator app: the codes of a secret that a page showed. */
import { Secret, TOTP } from 'otpauth'

/** @param shown the key of the page, in groups of four */
export function appWith(shown: string): { codeAt(now: number): string } {
  const totp = new TOTP({ secret: Secret.fromBase32(shown.replaceAll(' ', '')) })
  return { codeAt: (timestamp) => totp.generate({ timestamp }) }
}
