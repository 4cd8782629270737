/**
 * The chain that every call of an operation goes through, whatever transport it came by. The order is the contract's:
 * key 401 → plan 402 → access and scope 403 → rate limit 429 → validation 422 → idempotency 409 → handler → audit.
 */
import type { Postgres } from '../../postgres/client.ts'
import type { FoundApiKey } from '../../postgres/tables/api-keys.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { KeyedHash } from '../../runtime/keyed-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { Problem, problem } from '../../schemas/problems.ts'
import type { Authenticator } from '../guards/authenticate.ts'
import { type Guard, requireAccess, requirePlan, requireScope } from '../guards/authorize.ts'
import type { RateLimiter } from '../guards/rate-limit.ts'
import type { Actor, Context, Interface, Operation, OperationInput, PublicHosts, Stores } from './define.ts'
import { runMutation } from './mutate.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { type RawInput, validateInput } from './validate.ts'

/** What is refused before the rate limit is looked at, in this order. */
const guards: readonly Guard[] = [requirePlan, requireAccess, requireScope]

export interface Gateway {
  readonly authenticator: Authenticator
  readonly rateLimiter: RateLimiter
  readonly stores: Stores
  readonly transaction: Postgres['transaction']
  readonly clock: Clock
  readonly log: Log
  readonly config: PublicHosts
  /** For how long a retry with the same Idempotency-Key gets the same answer. */
  readonly idempotencyKeptMs: number
  readonly hashAddress: KeyedHash
}

export interface Call {
  readonly operation: Operation
  readonly interface: Interface
  readonly requestId: string
  readonly authorization: string | undefined
  /** Where the call came from: only its keyed hash is kept. */
  readonly address: string
  /** Read only once the caller may: nothing is said about the input to others. May throw a Problem. */
  readInput(): RawInput | Promise<RawInput>
}

/** Runs the call. It never throws: what is no Problem is logged under the request id and becomes `internal`. */
export async function runCall(call: Call, gateway: Gateway): Promise<Outcome> {
  const rateLimit: Record<string, string> = {}
  const outcome = await runChain(call, gateway, rateLimit).catch((error) => outcomeOf(toProblem(error, call, gateway)))
  return { ...outcome, headers: { ...rateLimit, ...outcome.headers } }
}

/** @param rateLimit gets the headers that every answer to a good key has */
async function runChain(call: Call, gateway: Gateway, rateLimit: Record<string, string>): Promise<Outcome> {
  const { operation, requestId } = call
  const { stores, clock, log, config, transaction, idempotencyKeptMs: keptMs } = gateway
  const key = await gateway.authenticator.authenticate(call.authorization)
  const limit = await gateway.rateLimiter.take(key)
  Object.assign(rateLimit, limit.headers)
  for (const guard of guards) guard(key, operation)
  if (limit.isExceeded) throw problem('rate_limited')
  const raw = await call.readInput()
  const { idempotencyKey, ...input } = validateInput(operation, raw)
  const workspace = { ...key.workspace, plan_key: key.workspace.plan_key! }
  // The guards and the schemas have just made of them what the handler's type says they are.
  const context = {
    ...input,
    workspace,
    actor: actorOf(key),
    stores,
    clock,
    log,
    config,
    requestId,
    interface: call.interface,
  } as Context<OperationInput>
  if (operation.effect === 'read') return outcomeOf(await operation.handle(context))
  const mutation = {
    operation,
    context,
    ipHash: call.address === '' ? null : gateway.hashAddress(workspace.id, call.address),
    idempotencyKey,
    body: raw.fingerprint ?? raw.body,
    keptMs,
  }
  return runMutation(mutation, transaction)
}

function toProblem(error: unknown, { operation, requestId }: Call, { log }: Gateway): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreUnavailable) {
    log.warn({ err: error, requestId, operation: operation.name }, 'a store is away')
    return problem('store_unavailable', '', { cause: error })
  }
  log.error({ err: error, requestId, operation: operation.name }, 'an operation failed')
  return problem('internal', '', { cause: error })
}

function actorOf({ id, name }: FoundApiKey): Actor {
  return { type: 'api_key', id, name }
}
