/**
 * A mutation: one transaction holds the change, its audit row and its webhook events. It also holds the record that
 * answers a retry with the same Idempotency-Key. A crash between them is impossible, and so is a second run of a retry.
 *
 *   is the caller still allowed? → lock the key (held by another: 409) → known: replay, 409 where the request was another,
 *   or 403 where the caller lacks a scope of the answer → handler → outbox → record → audit (last: it holds the workspace's
 *   chain) → commit
 *
 * The handler's own refusals (404, 409, 422) are outcomes as well: what it wrote is undone, and the record is kept. A
 * refusal of the caller (401, 402, 403, 429) isn't kept: a repeat by somebody who may does the work.
 *
 * Held by test/integration/idempotency.test.ts, test/contract/mutations.test.ts and test/crash/kill-api.test.ts.
 */
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { insertOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import type { Authenticated } from '../../postgres/tables/workspaces/api-keys.ts'
import { appendAuditEvent } from '../../postgres/tables/workspaces/audit.ts'
import {
  findIdempotencyRecord,
  type IdempotencyRecord,
  insertIdempotencyRecord,
  tryLockIdempotencyKey,
} from '../../postgres/tables/workspaces/idempotency.ts'
import type { KeyedHash } from '../../runtime/crypto/keyed-hash.ts'
import { Problem, problem } from '../../schemas/errors/problems.ts'
import { lacking } from '../guards/authorize.ts'
import type { ActorScopes, CallContext, Context, Operation, OperationInput } from './define.ts'
import { type Outcome, outcomeOf } from './outcome.ts'

export interface Mutation {
  readonly operation: Operation
  readonly context: Context<OperationInput>
  /** It has an answer already, so nothing was prepared. */
  readonly isRepeat: boolean
  readonly prepared: unknown
  /** Undefined: a repeat is another call. */
  readonly idempotencyKey: string | undefined
  /** A retry must equal this, beside the operation and its path. */
  readonly body: unknown
  /** The body before its defaults were filled in. */
  readonly sent: unknown
  readonly keptMs: number
  readonly hashRequest: KeyedHash
  readonly ipHash: string | null
  /** @returns the caller as it is now. @throws Problem where the caller may no longer do this */
  confirm(tx: Queryable): Promise<Pick<Authenticated, 'scopes' | 'ownerId' | 'workspace'>>
}

/** @throws Problem when another request has the key; whatever else the handler throws that is no Problem */
export async function runMutation(given: Mutation, transaction: Postgres['transaction']): Promise<Outcome> {
  const afterwards: Parameters<CallContext['onCommit']>[0][] = []
  const context = { ...given.context, onCommit: (work: (typeof afterwards)[number]) => void afterwards.push(work) }
  const outcome = await commit({ ...given, context }, transaction)
  // A handler that refused has changed nothing.
  if (outcome.problem !== undefined) return outcome
  for (const work of afterwards) {
    await work(transaction).catch((error: unknown) =>
      context.log.warn({ err: error }, 'a change was not tidied up after'),
    )
  }
  return outcome
}

async function commit(given: Mutation, transaction: Postgres['transaction']): Promise<Outcome> {
  const { context, idempotencyKey: key } = given
  const workspaceId = context.workspace.id
  return transaction(async (tx) => {
    const { scopes: held, ownerId, workspace: found } = await given.confirm(tx)
    const { scopes, asked } = noting(held)
    const workspace = { ...found, plan_key: found.plan_key! }
    const mutation = { ...given, context: { ...context, scopes, workspace } }
    const stores = { ...context.stores, pg: tx }
    if (key === undefined) {
      const outcome = await runHandler(mutation, stores)
      if (outcome.problem !== undefined) throw outcome.problem
      await record(mutation, outcome, tx)
      return outcome
    }
    if (!(await tryLockIdempotencyKey(tx, workspaceId, key))) throw problem('idempotency_in_progress')
    const fingerprint = fingerprintOf(mutation, ownerId)
    const known = await findIdempotencyRecord(tx, workspaceId, key)
    if (known !== null) return replay(known, fingerprint, mutation)
    // Its record has just expired.
    if (mutation.isRepeat) throw problem('idempotency_in_progress')
    await tx.query('SAVEPOINT handler')
    const outcome = await runHandler(mutation, stores)
    const { status } = outcome
    if (outcome.problem !== undefined && isOfCaller(status)) throw outcome.problem
    if (outcome.problem !== undefined) await tx.query('ROLLBACK TO SAVEPOINT handler')
    const body = stores.box.seal(JSON.stringify(outcome.body))
    await insertIdempotencyRecord(tx, workspaceId, key, { fingerprint, status, body, scopes: asked() }, mutation.keptMs)
    if (outcome.problem === undefined) await record(mutation, outcome, tx)
    return outcome
  })
}

/** An expected refusal is an outcome; anything else is thrown. */
async function runHandler({ operation, context, prepared }: Mutation, stores: CallContext['stores']): Promise<Outcome> {
  try {
    return outcomeOf(await operation.handle({ ...context, stores, prepared }))
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return outcomeOf(error)
    throw error
  }
}

/** Scopes that note which of those that are held a handler asks for. */
function noting(held: readonly string[]): { readonly scopes: ActorScopes; asked(): string[] } {
  const asked = new Set<string>()
  const includes = (scope: string) => {
    const isHeld = held.includes(scope)
    if (isHeld) asked.add(scope)
    return isHeld
  }
  return { scopes: { includes }, asked: () => [...asked] }
}

/** The refusal says something about the caller, not about the request. */
const isOfCaller = (status: number) => [401, 402, 403, 429].includes(status)

function replay(known: IdempotencyRecord, wanted: Buffer, { context }: Mutation): Outcome {
  const { fingerprint, status, body, scopes } = known
  if (!fingerprint.equals(wanted)) throw problem('idempotency_key_reused')
  const missing = scopes.find((scope) => !context.scopes.includes(scope))
  if (missing !== undefined) throw lacking(context.actor.type, missing)
  const text = context.stores.box.open(body)
  if (text === null) throw new Error('a kept answer is of another SECRET_KEY than its fingerprint')
  return { status, body: JSON.parse(text) as unknown, headers: { 'Idempotent-Replayed': 'true' } }
}

/**
 * A keyed hash of the method, the path, the query and the body, whatever the order of its members. Where the answer holds a secret, also of
 * the member: nobody else in the workspace gets it by the key.
 */
function fingerprintOf({ operation, context, body, hashRequest }: Mutation, memberId: number): Buffer {
  const { method, path } = operation.http
  const member = operation.answersWithSecret ? [memberId] : []
  const query = operation.input.query === undefined ? [] : [context.query]
  const said = JSON.stringify([method, path, context.path ?? {}, body ?? null, ...query, ...member], inOrder)
  return Buffer.from(hashRequest(context.workspace.id, said), 'hex')
}

function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Writes the webhook events and the audit row. */
async function record({ operation, context, sent, ipHash }: Mutation, { body }: Outcome, tx: Queryable): Promise<void> {
  const { workspace, actor, requestId } = context
  const { emits, writesOutbox = false, auditIds = [] } = operation
  if (emits !== undefined && !writesOutbox) await insertOutbox(tx, workspace.id, emits, body)
  const [resourceType] = operation.name.split('.') as [string]
  await appendAuditEvent(tx, {
    workspaceId: workspace.id,
    action: operation.name,
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    interface: context.interface,
    resourceType,
    resourceId: resourceIdOf(resourceType, body),
    requestId,
    ipHash,
    metadata: {
      fields: fieldsOf(sent, context.body),
      ...pick({ ...(body as object), ...context.path, ...context.body }, auditIds),
    },
  })
}

/** The answer is the resource, or names it: a test of a webhook endpoint answers with the delivery. */
function resourceIdOf(type: string, body: unknown): number | null {
  const ids = body as Readonly<Record<string, number | null | undefined>>
  return ids[`${type}_id`] ?? ids['id'] ?? null
}

/** Names only: what was written may be anything, and audit rows stay for ever. */
function fieldsOf(sent: unknown, body: unknown): string[] {
  return Object.keys(body ?? {}).filter((name) => Object.hasOwn(Object(sent), name))
}

function pick(input: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, input[name]]))
}
