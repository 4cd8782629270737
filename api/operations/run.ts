/**
 * The chain that every call of an operation goes through, whatever transport it came by. The order is the contract's:
 * key 401 → plan 402 → access and scope 403 → rate limit 429 → validation 422 → idempotency 409 → handler → audit.
 */
import type { FoundApiKey } from '../../postgres/tables/api-keys.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { Problem, problem } from '../../schemas/problems.ts'
import type { Authenticator } from '../guards/authenticate.ts'
import { type Guard, requireAccess, requirePlan, requireScope } from '../guards/authorize.ts'
import type { Actor, Context, Operation, OperationInput, Stores } from './define.ts'
import { type RawInput, validateInput } from './validate.ts'

/** The guards between the key and the validation, in their order; rate limiting belongs at the end. */
const guards: readonly Guard[] = [requirePlan, requireAccess, requireScope]

export interface Gateway {
  readonly authenticator: Authenticator
  readonly stores: Stores
  readonly clock: Clock
  readonly log: Log
  readonly config: { readonly apiHost: string }
}

export interface Call {
  readonly operation: Operation
  readonly requestId: string
  readonly authorization: string | undefined
  /** Read only once the caller may: nothing is said about the input to others. May throw a Problem. */
  readInput(): RawInput
}

/**
 * Runs the call, and returns what the handler returned.
 * @throws Problem and nothing else: what isn't one is logged under the request id and becomes `internal`
 */
export async function runCall(call: Call, gateway: Gateway): Promise<unknown> {
  try {
    return await runChain(call, gateway)
  } catch (error) {
    if (error instanceof Problem) throw error
    const { requestId, operation } = call
    if (error instanceof StoreUnavailable) {
      gateway.log.warn({ err: error, requestId, operation: operation.name }, 'a store is away')
      throw problem('store_unavailable', '', { cause: error })
    }
    gateway.log.error({ err: error, requestId, operation: operation.name }, 'an operation failed')
    throw problem('internal', '', { cause: error })
  }
}

async function runChain(call: Call, gateway: Gateway): Promise<unknown> {
  const { operation, requestId } = call
  const { stores, clock, log, config } = gateway
  const key = await gateway.authenticator.authenticate(call.authorization)
  for (const guard of guards) await guard(key, operation)
  const input = validateInput(operation.input, call.readInput())
  const context = { ...input, workspace: key.workspace, actor: actorOf(key), stores, clock, log, config, requestId }
  // The guards and the schemas have just made of them what the handler's type says they are.
  return operation.handle(context as Context<OperationInput>)
}

function actorOf({ id, name }: FoundApiKey): Actor {
  return { type: 'api_key', id, name }
}
