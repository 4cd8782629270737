/** Made-up payments for the demo workspace: visitors who converted paid, and a few were paid back. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { recordRevenue } from '../../postgres/tables/revenue-ledger.ts'
import { demoPayments } from '../../schemas/limits/seed-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'

const pricesCents = [1_900, 4_900, 4_900, 9_900, 19_900]
/** Of so many payments one is paid back, two days later. */
const refundedEach = 15

interface Conversion {
  readonly id: number
  readonly anonymous_id: string
  readonly at: number
}

export async function fillPayments(
  { pg, ch }: { readonly pg: Pick<Postgres, 'transaction'>; readonly ch: Pick<ClickHouse, 'query'> },
  workspaceId: number,
  now: number,
): Promise<void> {
  const conversions = await ch.query<Conversion>(
    `SELECT id, anonymous_id, toUnixTimestamp64Milli(occurred_at) AS at FROM events
     WHERE workspace_id = {workspace:UInt32} AND kind = 'conversion' AND anonymous_id != ''
     ORDER BY cityHash64(id) LIMIT {max:UInt32}`,
    { workspace: workspaceId, max: demoPayments },
  )
  await pg.transaction(async (tx) => {
    for (const [nth, { id, anonymous_id, at }] of conversions.entries()) {
      const money = { valueCents: pricesCents[nth % pricesCents.length]!, currency: 'USD' }
      const refundedAt = at + 2 * dayMs
      const isRefunded = nth % refundedEach === 0 && refundedAt < now
      await recordRevenue(
        tx,
        { workspaceId, provider: 'custom', now },
        {
          payment: {
            ...{ id: `demo_${id}`, occurredAt: at, paid: money },
            refunds: isRefunded ? [{ ...money, refund: `demo_${id}`, occurredAt: refundedAt }] : [],
          },
          references: [`payment:demo_${id}`],
          payer: { anonymousId: anonymous_id },
          toldAt: at,
        },
      )
    }
  })
}
