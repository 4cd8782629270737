/** Events of payment providers, signed as these sign them and sent through the API. */
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import { creditRevenue } from '../../pipeline/revenue/credit-payments.ts'
import { makeIdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import type { RevenueProvider } from '../../schemas/revenue.ts'
import { type TestApi, testApiHost } from './api.ts'
import { svcOn } from './command-line.ts'
import type { TestStores } from './stores.ts'

export interface Connected {
  readonly connection_id: number
  readonly url: string
  readonly secret: string
}

export async function connectProvider(
  stores: TestStores,
  workspaceId: number,
  provider: RevenueProvider,
): Promise<Connected> {
  const words = ['revenue', 'connect', '--workspace', String(workspaceId), '--provider', provider]
  const { json, err } = await svcOn(stores, ...words)
  if (json === undefined) throw new Error(err)
  return json
}

let messages = 0
const { webhooks } = new Stripe('sk_test_none')

/** @param at when it was signed, in milliseconds since 1970 */
export function signatureOf(
  provider: RevenueProvider,
  secret: string,
  body: string,
  at = Date.now(),
): Record<string, string> {
  const timestamp = Math.floor(at / 1000)
  const hmac = (text: string) => createHmac('sha256', secret).update(text).digest('hex')
  switch (provider) {
    case 'stripe':
      return { 'Stripe-Signature': webhooks.generateTestHeaderString({ payload: body, secret, timestamp }) }
    case 'paddle':
      return { 'Paddle-Signature': `ts=${timestamp};h1=${hmac(`${timestamp}:${body}`)}` }
    case 'lemonsqueezy':
      return { 'X-Signature': hmac(body) }
    case 'custom': {
      const id = `msg_${++messages}`
      return {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': new Webhook(secret).sign(id, new Date(at), body),
      }
    }
  }
}

export async function sendEvent(api: TestApi, provider: RevenueProvider, connected: Connected, event: unknown) {
  const body = JSON.stringify(event)
  const path = connected.url.replace(testApiHost, '')
  const headers = { 'Content-Type': 'application/json', ...signatureOf(provider, connected.secret, body) }
  const response = await api.ask(path, { method: 'POST', body, headers })
  return { status: response.status, body: (await response.json()) as { detail?: readonly { loc: unknown }[] | string } }
}

export interface LedgerRow {
  readonly payment: string
  readonly value_cents: number
  readonly currency: string
  readonly occurred_at: Date
}

/** All entries of a workspace, by payment and time. */
export function readLedger({ pg }: TestStores, workspaceId: number): Promise<LedgerRow[]> {
  return pg.query<LedgerRow>(
    `SELECT payment, value_cents, currency, e.occurred_at FROM revenue_entries e JOIN revenue_payments p ON p.id = payment_id
     WHERE e.workspace_id = $1 ORDER BY payment, e.occurred_at, entry`,
    [workspaceId],
  )
}

/** Credits all payments anew, as the pipeline does in its own time. */
export async function creditAll({ pg, ch, secretKey }: TestStores): Promise<void> {
  await pg.query('UPDATE revenue_payments SET credit_due_at = now() WHERE credit_due_at IS NOT NULL')
  const hashes = makeIdentityHashes(secretKey)
  await creditRevenue({ pg, ch, hashes }, new AbortController().signal)
}
