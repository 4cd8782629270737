/**
 * How many requests a key may make in a window, counted in Redis for all nodes together. While Redis is away each node counts
 * for itself. A window begins with its first request.
 */
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import type { Authenticated } from '../../postgres/tables/workspaces/api-keys.ts'
import type { PlanKey } from '../../postgres/tables/workspaces/workspaces.ts'
import type { Clock } from '../../runtime/clock.ts'
import { networkOf } from '../../runtime/http/network-of.ts'
import { sha256Of } from '../../schemas/keys.ts'
import {
  rateLimitWindowMs,
  signInTriesOfAddressMax,
  signInTriesOfBrowserMax,
  signInTriesOfEmailMax,
  signInWindowMs,
} from '../../schemas/limits/api-limits.ts'
import { registrationsOfAddressMax, tokenRequestsOfAddressMax } from '../../schemas/limits/oauth-limits.ts'
import { accountTriesMax, accountTriesWindowMs } from '../../schemas/limits/publish-limits.ts'
import { codeTriesOfAccountMax, codeWindowMs } from '../../schemas/limits/second-factor-limits.ts'
import { hour, minute } from '../../schemas/limits/units.ts'

export interface RateLimiter {
  /** Counts a request of the key. */
  take(key: Pick<Authenticated, 'actorType' | 'id' | 'workspace'>): Promise<RateLimit>
}

interface RateLimit {
  readonly isExceeded: boolean
  /** For every answer to the key. */
  readonly headers: Readonly<Record<string, string>>
}

export interface RateLimiterOptions {
  /** A client of ioredis that fails at once while it isn't connected. Undefined: this process counts for itself. */
  readonly redis: unknown
  /** Requests a window. */
  readonly limits: Readonly<Record<PlanKey, number>>
  readonly clock: Clock
}

export function makeRateLimiter({ redis, limits, clock }: RateLimiterOptions): RateLimiter {
  const plans = Object.entries(limits) as [PlanKey, number][]
  const limiters = new Map(plans.map(([plan, points]) => [plan, makeLimiter(redis, points)]))
  return {
    async take({ actorType, id, workspace }) {
      // Without a plan the answer is 402 whatever the limit.
      const plan = workspace.plan_key ?? 'starter'
      const limit = limits[plan]
      const { isExceeded, remaining, msToReset } = await consume(
        limiters.get(plan)!,
        actorType === 'user' ? `session ${id}` : String(id),
      )
      const headers = {
        'X-RateLimit-Limit': String(limit),
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Reset': String(Math.ceil((clock.now() + msToReset) / 1000)),
      }
      const retryAfter = { 'Retry-After': String(Math.max(1, Math.ceil(msToReset / 1000))) }
      return { isExceeded, headers: isExceeded ? { ...headers, ...retryAfter } : headers }
    },
  }
}

export interface SignInLimiter {
  /** Counts a try to sign in. @returns milliseconds until the next one is allowed; 0 where this one is */
  take(tried: SignInTry): Promise<number>
  /** The address's try was a right one, and counts no longer: many people sign in from one office. */
  giveBack(address: string): Promise<void>
  /** Nobody compared the password: the try counts no longer, neither for its address nor for its e-mail or browser. */
  giveAllBack(tried: SignInTry): Promise<void>
  /** Counts a code of an account's second factor. @returns as `take` */
  takeCode(ownerId: number): Promise<number>
  /** The code was a right one, and counts no longer. */
  giveBackCode(ownerId: number): Promise<void>
  /** Counts a workspace's try to sign in to a social account, right or wrong. @returns as `take` */
  takeAccount(workspaceId: number): Promise<number>
  /** Counts a request of an app that signs in by OAuth: of its address, as nothing else is known. @returns as `take` */
  takeApp(request: 'registration' | 'token', address: string): Promise<number>
}

interface SignInTry {
  readonly address: string
  readonly email: string
  /** A browser that signed in with the e-mail before. It has tries of its own, which no stranger can use up. */
  readonly knownBrowser?: string | undefined
}

/** @param redis as in `RateLimiterOptions` */
export function makeSignInLimiter(redis: unknown): SignInLimiter {
  const limiter = (name: string, points: number) => makeLimiter(redis, points, `svc:sign-in:${name}`, signInWindowMs)
  const ofAddress = limiter('address', signInTriesOfAddressMax)
  const ofEmail = limiter('email', signInTriesOfEmailMax)
  const ofBrowser = limiter('browser', signInTriesOfBrowserMax)
  const ofAccounts = makeLimiter(redis, accountTriesMax, 'svc:connect-account', accountTriesWindowMs)
  const ofApps = {
    registration: makeLimiter(redis, registrationsOfAddressMax, 'svc:oauth:registration', hour),
    token: makeLimiter(redis, tokenRequestsOfAddressMax, 'svc:oauth:token', minute),
  }
  const ofCodes = makeLimiter(redis, codeTriesOfAccountMax, 'svc:sign-in:code', codeWindowMs)
  /** Whose tries they are, beside the address's. */
  const holderOf = ({ email, knownBrowser }: SignInTry) =>
    knownBrowser === undefined ? ([ofEmail, nameOf(email)] as const) : ([ofBrowser, nameOf(knownBrowser)] as const)
  const giveBack = async (address: string) => {
    await ofAddress.reward(nameOf(networkOf(address)))
  }
  return {
    async take(tried) {
      // An address that has had its tries takes none away from the owner. With IPv6 it is the network: a household has 2^64.
      const first = await consume(ofAddress, nameOf(networkOf(tried.address)))
      if (first.isExceeded) return first.msToReset
      const second = await consume(...holderOf(tried))
      if (!second.isExceeded) return 0
      // Nobody compares it: colleagues at the address have their tries.
      await giveBack(tried.address)
      return second.msToReset
    },
    giveBack,
    async giveAllBack(tried) {
      const [limiter, name] = holderOf(tried)
      await Promise.all([giveBack(tried.address), limiter.reward(name)])
    },
    async takeCode(ownerId) {
      const { isExceeded, msToReset } = await consume(ofCodes, String(ownerId))
      return isExceeded ? msToReset : 0
    },
    async giveBackCode(ownerId) {
      await ofCodes.reward(String(ownerId))
    },
    async takeAccount(workspaceId) {
      const { isExceeded, msToReset } = await consume(ofAccounts, String(workspaceId))
      return isExceeded ? msToReset : 0
    },
    async takeApp(request, address) {
      const { isExceeded, msToReset } = await consume(ofApps[request], nameOf(networkOf(address)))
      return isExceeded ? msToReset : 0
    },
  }
}

/** Redis needn't know whom it counts. */
function nameOf(text: string): string {
  return sha256Of(text).toString('base64url')
}

function makeLimiter(
  redis: unknown,
  points: number,
  keyPrefix = 'svc:rate',
  windowMs = rateLimitWindowMs,
): RateLimiterAbstract {
  const options = { keyPrefix, points, duration: windowMs / 1000 }
  const here = new RateLimiterMemory(options)
  return redis === undefined ? here : new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter: here })
}

async function consume(limiter: RateLimiterAbstract, key: string) {
  try {
    const { remainingPoints, msBeforeNext } = await limiter.consume(key)
    return { isExceeded: false, remaining: remainingPoints, msToReset: msBeforeNext }
  } catch (rejected) {
    if (!(rejected instanceof RateLimiterRes)) throw rejected
    return { isExceeded: true, remaining: 0, msToReset: rejected.msBeforeNext }
  }
}
