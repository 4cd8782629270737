/**
 * The chain that every call of an operation goes through, whatever transport it came by. The contract sets the order of
 * refusals: key 401 → plan 402 → access and scope 403 → rate limit 429 → validation 422 → idempotency 409 → handler → audit.
 * The rate limiter takes its token right after the key. So refused calls count too, and their answers have its headers.
 */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import type { Authenticated } from '../../postgres/tables/workspaces/api-keys.ts'
import { findIdempotencyRecord } from '../../postgres/tables/workspaces/idempotency.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { KeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreLate, StoreUnavailable } from '../../runtime/store-error.ts'
import { Problem, problem } from '../../schemas/errors/problems.ts'
import type { Authenticator } from '../guards/authenticate.ts'
import {
  type Guard,
  requireAccess,
  requireFactor,
  requireMembership,
  requireOpenQuery,
  requirePlan,
  requireScope,
} from '../guards/authorize.ts'
import type { RateLimiter } from '../guards/rate-limit.ts'
import type { Actor, CallConfig, Context, Interface, Operation, OperationInput, Stores } from './define.ts'
import { type Mutation, runMutation } from './mutate.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import type { OpenReader, TimedReader } from './timed-reader.ts'
import { type RawInput, validateInput, withSentInputs } from './validate.ts'

export interface Gateway {
  readonly authenticator: Authenticator
  readonly rateLimiter: RateLimiter
  readonly stores: Stores
  readonly transaction: Postgres['transaction']
  /** Runs a mutation once its workspace's queue has room. @throws Problem `workspace_busy` */
  readonly enqueue: <Result>(workspaceId: number, mutate: () => Promise<Result>) => Promise<Result>
  readonly clock: Clock
  readonly log: Log
  readonly config: CallConfig
  /** Workspace and Idempotency-Key of the changes that this process is preparing or making. */
  readonly preparing: Set<string>
  /** For how long a retry with the same Idempotency-Key gets the same answer. */
  readonly idempotencyKeptMs: number
  readonly openReader: OpenReader
  readonly hashAddress: KeyedHash
  /** Keyed, as a body may hold a password: nobody tries some on a copy of the database. */
  readonly hashRequest: KeyedHash
}

/** Facts about a caller before the operation is known. */
export interface Caller {
  readonly interface: Interface
  readonly requestId: string
  /**
   * For the authenticator: the header `Authorization`, or the credential that `sessionCredential` reads from a
   * browser's headers.
   */
  readonly credential: string | undefined
  /** Where the call came from: only its keyed hash is kept. */
  readonly address: string
}

export interface Call extends Caller {
  readonly operation: Operation
  /** Read only once the caller may: nothing is said about the input to others. May throw a Problem. */
  readInput(workspaceId: number): RawInput | Promise<RawInput>
}

/** Headers are those that every answer to a good key has. */
export type Admission =
  | { readonly key: Authenticated; readonly headers: Readonly<Record<string, string>> }
  | { readonly refusal: Outcome; readonly headers: Readonly<Record<string, string>> }

/** Runs the call. It never throws: what is no Problem is logged under the request id and becomes `internal`. */
export async function runCall(call: Call, gateway: Gateway): Promise<Outcome> {
  const requireItsScope: Guard = (key) => requireScope(key, call.operation)
  const admission = await admit(call, gateway, requireItsScope)
  const outcome = 'key' in admission ? await runAdmitted(call, admission.key, gateway) : admission.refusal
  return { ...outcome, headers: { ...admission.headers, ...outcome.headers } }
}

/**
 * The part of the chain that comes before the operation: key, plan, access, second factor, rate limit. It never throws.
 * @param more what else is refused before the rate limit is looked at
 */
export async function admit(
  caller: Caller & Partial<Pick<Call, 'operation'>>,
  gateway: Gateway,
  ...more: readonly Guard[]
): Promise<Admission> {
  const headers: Record<string, string> = {}
  try {
    const key = await gateway.authenticator.authenticate(caller.credential)
    const limit = await gateway.rateLimiter.take(key)
    Object.assign(headers, limit.headers)
    for (const guard of [...guardsOf(caller.operation), ...more]) guard(key)
    if (limit.isExceeded) throw problem('rate_limited')
    return { key, headers }
  } catch (error) {
    return { refusal: outcomeOf(toProblem(error, caller, gateway.log)), headers }
  }
}

function guardsOf(operation: Operation | undefined): Guard[] {
  if (operation?.isOfAccount) return [requireMembership]
  return operation?.needsNoPlan ? [requireAccess] : [requirePlan, requireAccess, requireFactor]
}

/** The rest of the chain, for a key that was let in. It never throws. */
export async function runAdmitted(call: Call, key: Authenticated, gateway: Gateway): Promise<Outcome> {
  const reader = gateway.openReader(call.operation.effect === 'read')
  try {
    return await runOperation(call, key, gateway, reader)
  } catch (error) {
    return outcomeOf(toProblem(error, call, gateway.log, call.operation))
  } finally {
    reader.end()
  }
}

async function runOperation(call: Call, key: Authenticated, gateway: Gateway, ch: TimedReader): Promise<Outcome> {
  const { operation, requestId, address } = call
  const { stores, clock, log, config } = gateway
  requireScope(key, operation)
  const raw = await call.readInput(key.workspace.id)
  const { idempotencyKey, ...input } = validateInput(operation, raw)
  requireOpenQuery(key, input.query as Record<string, unknown> | undefined, operation)
  const workspace = { ...key.workspace, plan_key: key.workspace.plan_key! }
  // The guards and the schemas have just made of them what the handler's type says they are.
  const context = {
    ...input,
    workspace,
    actor: actorOf(key),
    scopes: key.scopes,
    stores: { ...stores, ch },
    clock,
    log,
    config,
    requestId,
    address,
    interface: call.interface,
    onCommit: () => {
      throw new Error('only mutations commit something')
    },
  } as Context<OperationInput>
  const handle: Operation['handle'] = (given) => withSentInputs(operation, raw, () => operation.handle(given))
  if (operation.effect === 'read') return outcomeOf(await handle({ ...context, prepared: undefined }))
  const change = () => runChange(call, key, gateway, { context, handle, raw, idempotencyKey, body: input.body })
  if (operation.prepare === undefined || idempotencyKey === undefined) return change()
  return alone(gateway.preparing, `${workspace.id} ${idempotencyKey}`, change)
}

/**
 * A repeat meanwhile would prepare as well, and may find used up what the first one took. Other processes don't know of it:
 * there it may.
 */
async function alone<Result>(preparing: Set<string>, name: string, work: () => Promise<Result>): Promise<Result> {
  if (preparing.has(name)) throw problem('idempotency_in_progress')
  preparing.add(name)
  try {
    return await work()
  } finally {
    preparing.delete(name)
  }
}

interface Change extends Pick<Mutation, 'idempotencyKey' | 'body'> {
  readonly context: Context<OperationInput>
  readonly handle: Operation['handle']
  readonly raw: RawInput
}

async function runChange(
  call: Call,
  key: Authenticated,
  gateway: Gateway,
  { context, handle, raw, idempotencyKey, body }: Change,
): Promise<Outcome> {
  const { operation } = call
  const { stores, transaction, idempotencyKeptMs: keptMs } = gateway
  const { workspace } = context
  const isKnown = async (key: string) => (await findIdempotencyRecord(stores.pg, workspace.id, key)) !== null
  const isRepeat = operation.prepare !== undefined && idempotencyKey !== undefined && (await isKnown(idempotencyKey))
  const prepared = isRepeat ? undefined : await withSentInputs(operation, raw, async () => operation.prepare?.(context))
  const mutation = {
    operation: { ...operation, handle },
    context,
    isRepeat,
    prepared,
    ipHash: call.address === '' ? null : gateway.hashAddress(workspace.id, call.address),
    idempotencyKey,
    hashRequest: gateway.hashRequest,
    // Validated: what is ignored, or means the same, makes no other request.
    body: raw.fingerprint ?? body,
    sent: raw.body,
    keptMs,
    confirm: (tx: Queryable) => confirm(call, key, gateway, tx),
  }
  return gateway.enqueue(workspace.id, () => runMutation(mutation, transaction))
}

/**
 * Asks again, as a change's transaction begins, what let the call in. An upload takes minutes, and a change may wait in its
 * queue: a key may be revoked meanwhile, a session ended, and a member removed. Nothing is locked: what begins later doesn't stop
 * the change. Operations on members and keys lock the workspace besides (`lockAsManager`).
 * @returns the caller as it is now: handlers judge by its scopes
 */
async function confirm(
  { credential, operation }: Call,
  { workspace }: Authenticated,
  { authenticator }: Gateway,
  tx: Queryable,
): Promise<Authenticated> {
  const key = await authenticator.authenticateAnew(credential, tx)
  if (key.workspace.id !== workspace.id) throw problem('workspace_moved')
  for (const guard of guardsOf(operation)) guard(key)
  requireScope(key, operation)
  return key
}

function toProblem(error: unknown, { requestId }: Caller, log: Log, operation?: Operation): Problem {
  if (error instanceof Problem) return error
  const about = { err: error, requestId, operation: operation?.name }
  if (error instanceof StoreUnavailable) {
    const isLate = error instanceof StoreLate
    log.warn(about, isLate ? 'a store gave no answer in time' : 'a store is away')
    return problem(isLate ? 'answer_late' : 'store_unavailable', '', { cause: error })
  }
  log.error(about, 'an operation failed')
  return problem('internal', '', { cause: error })
}

function actorOf({ actorType: type, id, ownerId, name }: Authenticated): Actor {
  return type === 'user' ? { type, id: ownerId, name, sessionId: id } : { type, id, name }
}
