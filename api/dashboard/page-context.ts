/** Everything that the pages for signing in, and those about an account, have in common. */
import type { Postgres } from '../../postgres/client.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Authenticator } from '../guards/authenticate.ts'
import type { AuditAccount } from './audit-account.ts'
import type { KnownBrowsers } from './known-browsers.ts'
import type { PasswordGate } from './password-gate.ts'
import type { SecondFactorCodes } from './second-factor/codes.ts'

export interface PageContext {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly clock: Clock
  readonly authenticator: Authenticator
  readonly gate: PasswordGate
  readonly codes: SecondFactorCodes
  readonly audit: AuditAccount
  readonly knownBrowsers: KnownBrowsers
  /** Whether cookies are for https alone. */
  isSecure(): boolean
}
