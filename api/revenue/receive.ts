/**
 * POST /api/v1/growth/revenue/{provider}/{connection_id}: what payment providers send. Nothing is read of a body whose
 * signature isn't that of the connection. A 200 says that the event's facts are in the ledger. A 503, or any failure,
 * asks the provider to send it again. A repeat changes nothing if the first was stored after all.
 */
import type { Postgres } from '../../postgres/client.ts'
import { tellPayments } from '../../postgres/tables/messages/conversion-messages.ts'
import { readRevenueConnection } from '../../postgres/tables/revenue/revenue-connections.ts'
import { recordRevenue } from '../../postgres/tables/revenue/revenue-ledger.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { SecretBox } from '../../runtime/crypto/secret-box.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import type { HttpRequest, NoRoute, Route } from '../../runtime/http/server.ts'
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { invalid, Problem, problem } from '../../schemas/errors/problems.ts'
import { parseJsonBody } from '../../schemas/json-body.ts'
import { revenueBodyBytesMax } from '../../schemas/limits/revenue-limits.ts'
import { type RevenueProvider, revenueProviders } from '../../schemas/revenue.ts'
import { problemReply, redirectReply } from '../transports/rest.ts'
import { readCustom } from './providers/custom.ts'
import { isLemonSqueezyTest, readLemonSqueezy } from './providers/lemonsqueezy.ts'
import { isPaddleSimulation, readPaddle } from './providers/paddle.ts'
import type { ReadProviderEvent } from './providers/provider.ts'
import { isStripeTest, readStripe } from './providers/stripe.ts'
import { hasRecentSignature, isSignedBy } from './signatures.ts'

export interface RevenueReceiver {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  /** Opens the secrets of connections. */
  readonly revenueBox: SecretBox
  readonly clock: Clock
  readonly log: Log
}

const readers: Readonly<Record<RevenueProvider, ReadProviderEvent>> = {
  stripe: readStripe,
  paddle: readPaddle,
  lemonsqueezy: readLemonSqueezy,
  custom: readCustom,
}

/** Paddle's sandbox has connections of its own. */
const isTest: Partial<Record<RevenueProvider, (event: unknown) => boolean>> = {
  stripe: isStripeTest,
  paddle: isPaddleSimulation,
  lemonsqueezy: isLemonSqueezyTest,
}

const label = 'revenue'
const address = new RegExp(`^/api/v1/growth/revenue/(${revenueProviders.join('|')})/(\\d{1,15})(/?)$`)

/** Undefined where the path is none of ours. */
export function routeRevenue(
  { method, path, query }: RequestHead,
  receiver: RevenueReceiver,
): Route | NoRoute | undefined {
  const [, provider, id, slash] = address.exec(path) ?? []
  if (provider === undefined) return undefined
  if (slash !== '') return { label, reply: redirectReply(path, query) }
  if (method !== 'POST') return { label, reply: problemReply('method_not_allowed', { Allow: 'POST' }) }
  const connection = { provider: provider as RevenueProvider, id: Number(id) }
  return {
    label,
    bodyBytesMax: revenueBodyBytesMax,
    // Without a signature nobody makes us hold a long body.
    precheck: async ({ headers }) =>
      hasRecentSignature(connection.provider, headers, receiver.clock.now())
        ? undefined
        : problemReply('signature_invalid'),
    handle: (request) => receive(request, connection, receiver),
  }
}

async function receive(
  request: HttpRequest,
  connection: { readonly provider: RevenueProvider; readonly id: number },
  receiver: RevenueReceiver,
): Promise<HttpReply> {
  const { log } = receiver
  const context = { requestId: request.requestId, provider: connection.provider, connection: connection.id }
  try {
    const outcome = await record(request, connection, receiver)
    if (outcome === 'test') log.info(context, "a provider's event of test mode was left out")
    return jsonReply(200, { received: true, ...(outcome === 'test' && { test: true }) })
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ ...context, code: error.code }, "a provider's event was refused")
      return jsonReply(error.status, { detail: error.detail }, error.headers)
    }
    if (!(error instanceof StoreUnavailable)) throw error
    log.warn({ ...context, err: error }, 'a store is away')
    return problemReply('store_unavailable', problem('store_unavailable').headers)
  }
}

async function record(
  { headers, body }: HttpRequest,
  { provider, id }: { readonly provider: RevenueProvider; readonly id: number },
  { pg, revenueBox, clock }: RevenueReceiver,
): Promise<'done' | 'test'> {
  const now = clock.now()
  // Who can't have signed costs no look-up.
  if (!hasRecentSignature(provider, headers, now)) throw problem('signature_invalid')
  const connection = await readRevenueConnection(pg, id, provider)
  if (connection === null) throw problem('revenue_connection_not_found')
  const secret = opened(revenueBox, connection.secret)
  if (!isSignedBy(secret, { provider, headers, body, now })) throw problem('signature_invalid')
  const parsed = parseJsonBody(body)
  if (!parsed.ok) throw parsed.status === 400 ? problem('body_unparsable') : invalid(parsed.detail)
  if (isTest[provider]?.(parsed.value)) return 'test'
  const { workspace_id: workspaceId } = connection
  const workspace = await readWorkspace(pg, workspaceId)
  // It is being deleted.
  if (workspace === null) throw problem('revenue_connection_not_found')
  const read = readers[provider](parsed.value, workspace.timezone)
  if (!read.ok) throw invalid(read.errors)
  const facts = read.value
  if (facts === undefined) return 'done'
  await pg.transaction(async (tx) => {
    const known = await recordRevenue(tx, { workspaceId, now }, [{ provider, facts }])
    await tellPayments(tx, workspaceId, known, now)
  })
  return 'done'
}

/** @throws Error, so that the provider asks again, and the log says what to do */
function opened(box: SecretBox, sealed: Buffer): string {
  const secret = box.open(sealed)
  if (secret !== null) return secret
  const remedy = '`svc revenue connect --connection ID` replaces it'
  throw new Error(`the connection's secret was stored under another SECRET_KEY: ${remedy}`)
}
