/**
 * Codes of accounts' second factors: of the authenticator app, or for recovery. Each works once, and an account has so many wrong
 * ones in an hour. Held by test/integration/second-factor.test.ts.
 */
import type { Queryable } from '../../../postgres/client.ts'
import { findSecondFactor, useRecoveryCode, useStep } from '../../../postgres/tables/members/second-factors.ts'
import type { Clock } from '../../../runtime/clock.ts'
import type { SecretBox } from '../../../runtime/crypto/secret-box.ts'
import { stepOfCode } from '../../../runtime/crypto/totp.ts'
import { readRecoveryCode, sha256Of } from '../../../schemas/keys.ts'
import type { SignInLimiter } from '../../guards/rate-limit.ts'

/** Thrown in a transaction, which it undoes. */
export class WrongCode extends Error {
  override name = 'WrongCode'
}

interface UsedCode {
  /** Null: it was the app's. */
  readonly recoveryCodesLeft: number | null
}

/** `waitMs` is that until the next try; 0 where this one was wrong. */
type CodeAttempt<Done> = { readonly done: Done } | { readonly waitMs: number }

export interface SecondFactorCodes {
  /** Counts a try of the account. @param work throws `WrongCode`, or did what the right code lets it do */
  attempt<Done>(ownerId: number, work: () => Promise<Done>): Promise<CodeAttempt<Done>>
  /** Uses a code up, which a rolled back transaction undoes. @throws WrongCode */
  use(tx: Queryable, ownerId: number, code: string): Promise<UsedCode>
  /** The step of a code of this secret. @throws WrongCode */
  stepOf(sealed: Buffer, code: string): number
}

interface CodesOptions {
  readonly box: SecretBox
  readonly clock: Clock
  readonly limiter: Pick<SignInLimiter, 'takeCode' | 'giveBackCode'>
}

export function makeSecondFactorCodes({ box, clock, limiter }: CodesOptions): SecondFactorCodes {
  function stepOf(sealed: Buffer, code: string): number {
    // Once SECRET_KEY was lost, no code is right any more, but recovery codes are.
    const secret = box.open(sealed)
    const step = secret === null ? null : stepOfCode(secret, code, clock.now())
    if (step === null) throw new WrongCode()
    return step
  }

  return {
    stepOf,
    async attempt(ownerId, work) {
      const waitMs = await limiter.takeCode(ownerId)
      if (waitMs > 0) return { waitMs }
      try {
        const done = await work()
        await limiter.giveBackCode(ownerId)
        return { done }
      } catch (error) {
        if (error instanceof WrongCode) return { waitMs: 0 }
        // Any other error is a store that is away: it doesn't count as a try.
        await limiter.giveBackCode(ownerId)
        throw error
      }
    },
    async use(tx, ownerId, code) {
      const factor = await findSecondFactor(tx, ownerId, clock.now())
      if (factor === null || factor.enabledAt === null) throw new WrongCode()
      const recovery = readRecoveryCode(code)
      if (recovery !== null) {
        const left = await useRecoveryCode(tx, ownerId, sha256Of(recovery))
        if (left === null) throw new WrongCode()
        return { recoveryCodesLeft: left }
      }
      if (!(await useStep(tx, ownerId, stepOf(factor.sealed, code)))) throw new WrongCode()
      return { recoveryCodesLeft: null }
    },
  }
}
