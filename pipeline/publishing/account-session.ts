/**
 * Calls with an account's credentials, which are renewed where their session is over. One process of all renews: platforms
 * take some refresh tokens once. It leases the renewal from Postgres. If it dies, another one renews after the lease. Held by
 * test/integration/publish-bluesky.test.ts.
 */
import type { Postgres } from '../../postgres/client.ts'
import {
  endRenewal,
  leaseRenewal,
  readCredentials,
  renewCredentials,
} from '../../postgres/tables/accounts/account-credentials.ts'
import { type Coalescer, makeCoalescer } from '../../runtime/coalesce.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { Sleep } from '../../runtime/retry.ts'
import { publishAttemptMs, renewalLeaseMs, renewalLookMs, renewalMs } from '../../schemas/limits/publish-limits.ts'
import { type Account, type Adapter, asUnpublished, type Call, ProviderError } from './adapter.ts'
import { untilWritten } from './until-written.ts'

export interface Sessions {
  readonly pg: Postgres
  readonly box: SecretBox
  /** Renewals of credentials, by account: one renewal for all calls of the process that wait for it. */
  readonly renewals: Coalescer<void>
  readonly fetching: Call<unknown>['fetching']
  readonly sleep: Sleep
}

/** A process makes one for all its calls to platforms. */
export const makeRenewals = (): Sessions['renewals'] => makeCoalescer<void>({ leastMs: 0, mostMs: publishAttemptMs })

interface Credentials {
  readonly credentials: unknown
  readonly version: number
}

export type Session = <Answer>(work: (call: Call<unknown>) => Promise<Answer>) => Promise<Answer>

const { signal: unending } = new AbortController()

/** Ends an early renewal that brought nothing. The session still holds, so no user sees it. */
const notRenewedYet = new ProviderError(
  { kind: 'transient', code: 'not_authorized' },
  'The session could not be renewed yet',
)

/** The owner did it in the middle of an attempt. No version is -1: a later connection has other credentials. */
const disconnected = new ProviderError(
  { kind: 'reauthenticate', code: 'account_not_connected', refusedVersion: -1 },
  'The account is disconnected',
)

const renewedElsewhere = new ProviderError(
  { kind: 'transient', code: 'not_authorized' },
  'Another process was renewing the session and did not end in time',
)

/** Calls with the account's credentials, and once more with new ones where the session turns out to be over. */
export function sessionOf(
  { pg, box, renewals, fetching, sleep }: Sessions,
  adapter: Adapter,
  account: Account,
  signal: AbortSignal,
): Session {
  let isRenewed = false

  async function read(): Promise<Credentials> {
    if (adapter.name === 'simulated') return { credentials: null, version: 0 }
    const found = await readCredentials(pg, account.id)
    if (found === null) throw disconnected
    return { credentials: JSON.parse(opened(box, found)), version: found.version }
  }

  /** @throws `over` where nothing renews the session */
  function renew({ credentials, version }: Credentials, over: unknown): Promise<void> {
    return renewals.ask(`${account.id} ${version}`, async () => {
      const lease = await leaseOrWait(version)
      if (lease === 'renewed') return
      // Not by the caller's signal: other calls wait for this renewal too.
      const ending = AbortSignal.timeout(renewalMs)
      try {
        const renewed = await adapter.refresh?.({ account, credentials, signal: ending, fetching, sleep })
        if (!renewed) throw over
        const sealed = box.seal(JSON.stringify(renewed))
        // However long Postgres is away: the token before may be used up.
        await untilWritten(() => renewCredentials(pg, account.id, version, sealed), sleep, unending)
      } catch (error) {
        await endRenewal(pg, account.id, lease)
        // The owner may have connected the account anew meanwhile.
        if (!(error instanceof ProviderError) || (await read()).version === version) throw error
      }
    })
  }

  /** @returns the end of the lease; `renewed` where a renewal ended, or the owner has connected the account anew */
  async function leaseOrWait(version: number): Promise<Date | 'renewed'> {
    // Longer than a lease: another process's lease ends before.
    const ending = AbortSignal.timeout(renewalLeaseMs + renewalMs)
    while (!ending.aborted) {
      if ((await read()).version !== version) return 'renewed'
      const lease = await leaseRenewal(pg, account.id, version, renewalLeaseMs)
      if (lease !== null) return lease
      await sleep(renewalLookMs, ending)
    }
    throw renewedElsewhere
  }

  async function readInTime(): Promise<Credentials> {
    const found = await read()
    if (!adapter.isDue?.(found.credentials)) return found
    await renew(found, notRenewedYet).catch((error) => {
      if (!(error instanceof ProviderError)) throw error
    })
    return read()
  }

  return async (work) => {
    const found = await readInTime()
    try {
      return await work({ account, credentials: found.credentials, signal, fetching, sleep })
    } catch (error) {
      if (!isOver(error) || isRenewed) throw withVersion(error, found)
      isRenewed = true
      await renew(found, error).catch((reason) => {
        // The renewal may be another call's: this call's own request was refused before it.
        const failed = reason === notRenewedYet ? error : reason
        const known = error.failure.isUnpublished && failed instanceof ProviderError ? asUnpublished(failed) : failed
        throw withVersion(known, found)
      })
      const renewed = await read()
      return work({ account, credentials: renewed.credentials, signal, fetching, sleep }).catch((reason) => {
        throw withVersion(reason, renewed)
      })
    }
  }
}

/** @throws ProviderError where they can't be decrypted: only connecting the account again stores new ones */
function opened(box: SecretBox, { sealed, version }: { readonly sealed: Buffer; readonly version: number }): string {
  const credentials = box.open(sealed)
  if (credentials !== null) return credentials
  const failure = { kind: 'reauthenticate', code: 'not_authorized', refusedVersion: version } as const
  throw new ProviderError(failure, 'The credentials were stored under another SECRET_KEY: connect the account again')
}

function isOver(error: unknown): error is ProviderError {
  return error instanceof ProviderError && error.failure.kind === 'reauthenticate'
}

/** Adds the version of the credentials to an error that refuses or limits them. */
function withVersion(error: unknown, { credentials, version }: Credentials): unknown {
  if (credentials === null || !(error instanceof ProviderError)) return error
  const { failure, message, cause } = error
  if (failure.kind !== 'reauthenticate' && failure.kind !== 'rate_limited') return error
  return new ProviderError({ ...failure, refusedVersion: version }, message, { cause })
}
