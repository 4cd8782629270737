/** Made-up people for the demo workspace: some of its visitors said who they are, and some of these paid. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { type InboxRow, insertInboxRows } from '../../postgres/tables/people/inbox.ts'
import { recordRevenue } from '../../postgres/tables/revenue/revenue-ledger.ts'
import { demoPaymentsMax, demoPeopleMax } from '../../schemas/limits/seed-limits.ts'
import type { RevenueFacts } from '../../schemas/revenue.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

const firstNames = ['Ada', 'Ben', 'Chiara', 'Deniz', 'Emil', 'Fatou', 'Grace', 'Hiro', 'Ines', 'Jonas', 'Kofi', 'Lea']
const lastNames = ['Almeida', 'Berg', 'Costa', 'Dubois', 'Eriksen', 'Ferrari', 'Garcia']
const companies = ['Harbour Coffee', 'Nordlicht', 'Atelier Sept', '', 'Pine & Co', '']
const pricesCents = [1_900, 4_900, 4_900, 9_900, 19_900]
/** One payment of this many is refunded, two days later. */
const refundedEach = 15

interface Stores {
  readonly pg: Pick<Postgres, 'transaction'>
  readonly ch: Pick<ClickHouse, 'query'>
}

/** A visitor's first event by which somebody could be known. */
interface Known {
  readonly id: number
  readonly anonymous_id: string
  readonly kind: 'identify' | 'conversion'
  readonly name: string
  readonly at: number
}

/** @param now milliseconds since 1970 */
export async function fillPeople({ pg, ch }: Stores, workspaceId: number, now: number): Promise<void> {
  const read = (max: number, which: string) =>
    ch.query<Known>(
      `SELECT id, anonymous_id, toString(kind) AS kind, event_name AS name, toUnixTimestamp64Milli(occurred_at) AS at FROM events
       WHERE workspace_id = {workspace:UInt32} AND anonymous_id != '' AND ${which}
       ORDER BY cityHash64(anonymous_id), occurred_at LIMIT 1 BY anonymous_id LIMIT {max:UInt32}`,
      { workspace: workspaceId, max },
    )
  const [known, paying] = await Promise.all([
    read(demoPeopleMax, "kind IN ('identify', 'conversion')"),
    read(demoPaymentsMax, "kind = 'conversion'"),
  ])
  await pg.transaction(async (tx) => {
    await insertInboxRows(
      tx,
      known.map((one, nth) => identified(one, nth, workspaceId)),
    )
    await recordRevenue(
      tx,
      { workspaceId, now },
      paying.map((one, nth) => ({ provider: 'custom', facts: paidBy(one, nth, now) })),
    )
  })
}

function paidBy({ id, anonymous_id, at }: Known, nth: number, now: number): RevenueFacts {
  const money = { valueCents: pricesCents[nth % pricesCents.length]!, currency: 'USD' }
  const refundedAt = at + 2 * dayMs
  const isRefunded = nth % refundedEach === 0 && refundedAt < now
  const refunds = isRefunded ? [{ ...money, refund: `demo_${id}`, occurredAt: refundedAt }] : []
  return {
    payment: { id: `demo_${id}`, occurredAt: at, paid: money, refunds },
    references: [`payment:demo_${id}`],
    payer: { anonymousId: anonymous_id },
    reportedAt: at,
  }
}

function identified({ id, anonymous_id, kind, name, at }: Known, nth: number, workspace_id: number): InboxRow {
  const [first, last] = [firstNames[nth % firstNames.length]!, lastNames[nth % lastNames.length]!]
  return {
    event_id: id,
    workspace_id,
    anonymous_id,
    event_type: kind,
    event_name: name,
    email: `${first}.${last}@example.com`.toLowerCase(),
    full_name: `${first} ${last}`,
    properties: { company: companies[nth % companies.length]! },
    source: '',
    medium: '',
    campaign: '',
    content: '',
    occurred_at: at,
    received_at: at,
  }
}
