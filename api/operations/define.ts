/**
 * An operation: one definition from which the REST route, its validation, the OpenAPI document, metric labels and the
 * contract tests are derived. A handler gets typed input and a context, and knows nothing of HTTP.
 */
import type { z } from 'zod'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres, Queryable } from '../../postgres/client.ts'
import type { PlanKey, Workspace } from '../../postgres/tables/workspaces/workspaces.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { FileStorage } from '../../runtime/files/file-storage.ts'
import type { Log } from '../../runtime/log.ts'
import type { ReadTxt } from '../../runtime/outbound/txt-records.ts'
import type { PublicHosts } from '../../runtime/public-hosts.ts'
import type { problems } from '../../schemas/errors/problems.ts'
import type { Scope, SessionScope } from '../../schemas/scopes.ts'
import type { WebhookEventType } from '../../schemas/webhook-events.ts'
import type { Toolset } from './toolsets.ts'

/** An operation's effect on the workspace: decides about idempotency, audit and the hints of tools. */
export type Effect = 'read' | 'create' | 'update' | 'delete'

export interface OperationInput {
  readonly path?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodObject
  /** In place of `body`: the fields of a multipart form, of which `file` is an `UploadedFile`. */
  readonly form?: z.ZodObject
}

/** How a call came in: what audit rows say. */
export type Interface = 'rest' | 'mcp' | 'console'

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** The workspace of the key. Without a plan the chain answers 402, but for operations with `needsNoPlan` or `isOfAccount`. */
type ContextWorkspace = Workspace & { readonly plan_key: PlanKey }

/** Who acts: a secret key, or a member in the dashboard. */
export interface Actor {
  readonly type: 'api_key' | 'user'
  /** Id of the key or the member's account. */
  readonly id: number
  readonly name: string
  /** The session of a member's browser. */
  readonly sessionId?: number
}

/** Stores and clients for handlers; `main.ts` puts the clients in. */
export interface Stores {
  /** A mutation's transaction. Its writes are committed together with its audit row and its webhook events. */
  readonly pg: Queryable
  readonly ch: Pick<ClickHouse, 'query'>
  readonly media: FileStorage
  /** For what is stored and not to be read from a copy of the database. */
  readonly box: SecretBox
  /** Hashes of browsers' ids and of e-mails, as events have them. */
  readonly hashes: IdentityHashes
  /** For `prepare` alone: it may take seconds. */
  readonly readTxt: ReadTxt
  /** Lets identical requests at about the same time share one answer, which must not be modified. */
  readonly share: <Answer>(question: string, work: () => Promise<Answer>) => Promise<Answer>
}

/** Settings of the installation. */
export interface CallConfig extends PublicHosts {
  /** For development: webhooks may go to private addresses, and over plain http. */
  readonly allowPrivateTargets: boolean
  /** Mails can be sent: reports, invitations, and links to a new password. */
  readonly isMailSetUp: boolean
  /** How long an answer may take. */
  readonly answerDeadlineMs: number
  /** Bytes of media that a workspace may store, by its plan. */
  readonly mediaBytesMax: Readonly<Record<PlanKey, number>>
}

/** The caller's scopes. A mutation notes which of them its handler asks for (mutate.ts). */
export type ActorScopes = Pick<readonly string[], 'includes'>

/** The part of a call that doesn't depend on the operation. */
export interface CallContext {
  readonly workspace: ContextWorkspace
  readonly actor: Actor
  /** The key's scopes: for members of an answer that need another than the operation's. */
  readonly scopes: ActorScopes
  readonly stores: Stores
  readonly clock: Clock
  readonly config: CallConfig
  readonly log: Log
  readonly requestId: string
  /** Where the call came from, empty where that isn't known. It is stored nowhere. */
  readonly address: string
  /** For what a tool may do beyond its route; hardly any operation asks. */
  readonly interface: Interface
  /** Mutations alone: work on files once the change is committed. Where it fails, a sweep has to do it later. */
  readonly onCommit: (work: (transaction: Postgres['transaction']) => Promise<void>) => void
}

/** The part of a call that figures are made from: reports by e-mail have no more of one. */
export interface FigureContext extends Pick<CallContext, 'workspace' | 'scopes' | 'clock'> {
  readonly stores: Pick<Stores, 'pg' | 'ch' | 'share'>
  readonly config: Pick<CallConfig, 'apiHost'>
}

export interface Context<Input extends OperationInput> extends CallContext {
  readonly path: Parsed<Input['path']>
  readonly query: Parsed<Input['query']>
  /** For a form: its fields. */
  readonly body: Parsed<Input['form'] extends z.ZodType ? Input['form'] : Input['body']>
}

export interface Operation<
  Input extends OperationInput = OperationInput,
  Output extends z.ZodType = z.ZodType,
  Prepared = unknown,
> {
  /** `noun.verb`: the metric label and, for mutations, the audit action. */
  readonly name: `${string}.${string}`
  readonly http: { readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; readonly path: `/v1/${string}` }
  /** The name as a tool for models, where it is one. */
  readonly tool?: `svc.${string}`
  /** The toolset that has the tool; left out: the default list. */
  readonly toolset?: Toolset
  /** Parameters, and members of the body and the answer, that the tool has only where its client asks for a toolset. */
  readonly onlyWith?: { readonly toolset: Toolset; readonly members: readonly string[] }
  /** One sentence, shown in the OpenAPI document. */
  readonly summary: string
  /** More than the sentence, where there is more to say. */
  readonly description?: string
  readonly tag: string
  readonly effect: Effect
  /** An update that does its work again at each call, such as a delivery. */
  readonly isIdempotent?: false
  readonly scope: Scope | SessionScope
  /** It decides about publication, and needs `publishScope` besides. */
  readonly publishes?: true
  /** A shared link may call it: the answer names no person, or leaves that out where `context.scopes` has `viewScope`. */
  readonly isShared?: true
  /**
   * Also where the plan has lapsed, or the caller lacks a required second factor. Otherwise members of several
   * workspaces couldn't leave this one.
   */
  readonly needsNoPlan?: true
  /** It reads the account's own, so it also works where the session's workspace is suspended. */
  readonly isOfAccount?: true
  readonly input: Input
  /** No field of the body is needed, and it may be left out as a whole. */
  readonly needsNoBody?: true
  readonly output: Output
  /** Webhook events to send on success, with the output as their object. */
  readonly emits?: WebhookEventType
  /** Names of ids, and of values from a closed list, in the input or the answer that the audit row has too. */
  readonly auditIds?: readonly string[]
  /** The answer holds a secret: its repeat under an `Idempotency-Key` is for the same member and that one's keys alone. */
  readonly answersWithSecret?: true
  /** The body holds a secret of somebody else's: no error shows what was sent. */
  readonly takesSecret?: true
  /** The handler writes to the outbox itself: it emits several objects, to one endpoint alone, or nothing where nothing changes. */
  readonly writesOutbox?: true
  /** The refusals of its own, beyond those of the chain. */
  readonly problems?: readonly (keyof typeof problems)[]
  /**
   * Mutations alone: work that takes long, such as asking somebody else's server. It is done before the change is queued, and
   * not for a repeat that has its answer already. The only thing that it may write is that something was used up. Its refusals aren't
   * kept for repeats.
   */
  prepare?(context: Context<Input>): Promise<Prepared>
  /** @param context `prepared` is the result of `prepare` */
  handle(context: Context<Input> & { readonly prepared: Prepared }): Promise<z.output<Output>>
}

/** Only types: what makes `scope` and `effect` impossible to leave out, and the handler's input typed. */
export function defineOperation<const Input extends OperationInput, Output extends z.ZodType, Prepared = undefined>(
  operation: Operation<Input, Output, Prepared>,
): Operation<Input, Output, Prepared> {
  return operation
}
