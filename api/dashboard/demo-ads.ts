/** Costs of the demo workspace's advertisements, on each day of its made-up visits. */
import { replaceAdSpend } from '../../postgres/tables/revenue/ad-spend.ts'
import { demoDays } from '../../schemas/limits/seed-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import type { CallContext } from '../operations/define.ts'

/** They have the sources that its tracked links name. */
const daily = [
  { source: 'facebook', cost_cents: 450, clicks: 9 },
  { source: 'linkedin', cost_cents: 700, clicks: 4 },
]
/** So many clicks more or less on a day, in turn. */
const turns = [0, 2, -1, 1, -2, 3, -3]

/** @param context of the demo workspace, within a transaction */
export async function fillAds({ stores, workspace, clock }: CallContext): Promise<void> {
  const lines = Array.from({ length: demoDays }, (_, ago) => {
    const day = new Date(clock.now() - ago * dayMs).toISOString().slice(0, 10)
    return daily.map(({ source, cost_cents, clicks: usual }) => {
      const clicks = usual + turns[ago % turns.length]!
      return {
        day,
        source,
        campaign: '',
        currency: 'USD',
        cost_cents: Math.round((cost_cents * clicks) / usual),
        clicks,
      }
    })
  })
  await replaceAdSpend(stores.pg, workspace.id, lines.flat())
}
