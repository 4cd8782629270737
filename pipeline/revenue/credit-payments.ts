/**
 * Credits payments to the last non-direct touch of who paid. Touches and identities may come after a payment, so it is credited
 * when it comes, again at twice its age, and when an identify of its payer comes; after 30 days no more. A repeat computes
 * the same anew.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { readCurrentBuild } from '../../postgres/tables/figure-builds.ts'
import {
  type CreditedPayment,
  type DuePayment,
  listDuePayments,
  listPayerBrowsers,
  recreditIdentified,
  saveCredits,
} from '../../postgres/tables/revenue-credits.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { IdentityHashes } from '../../runtime/identity-hash.ts'
import {
  creditAgainFirstMs,
  creditAgainMaxMs,
  creditedEach,
  creditFinalAfterMs,
  creditNewsMs,
  creditRunMs,
} from '../../schemas/revenue-limits.ts'
import { groupBy } from '../fold/group-by.ts'
import { readCredits, uncredited } from './read-touches.ts'

export interface Crediting {
  readonly pg: Postgres
  readonly ch: Pick<ClickHouse, 'query'>
  readonly clock: Clock
  readonly hashes: IdentityHashes
}

/** Credits what is due, for a bounded time. */
export async function creditRevenue(context: Crediting, signal: AbortSignal): Promise<void> {
  const { pg, clock } = context
  await recreditIdentified(pg, creditNewsMs)
  const end = clock.now() + creditRunMs
  while (!signal.aborted && clock.now() < end) {
    const due = await listDuePayments(pg, creditedEach)
    if (due.length === 0) return
    const credited: CreditedPayment[] = []
    for (const [workspaceId, payments] of groupBy(due, (payment) => payment.workspaceId)) {
      credited.push(...(await creditPayments(context, workspaceId, payments)))
    }
    await saveCredits(pg, credited)
  }
}

async function creditPayments(
  { pg, ch, clock, hashes }: Crediting,
  workspaceId: number,
  payments: readonly DuePayment[],
): Promise<CreditedPayment[]> {
  const build = await readCurrentBuild(pg, workspaceId)
  const browsers = await listPayerBrowsers(pg, payments)
  const ofVisitors = payments.map(({ id, occurredAt }) => ({
    ...{ id, at: occurredAt },
    visitors: browsers.get(id)!.map((browser) => hashes.visitorOf(workspaceId, browser)),
  }))
  const credits = build === undefined ? undefined : await readCredits(ch, build, ofVisitors)
  return payments.map(({ id, due, recordedAt }) => ({
    ...(credits?.get(id) ?? uncredited),
    ...{ id, due, nextDue: nextDueOf(recordedAt, clock.now()) },
  }))
}

function nextDueOf(recordedAt: number, now: number): number | null {
  const age = now - recordedAt
  return age > creditFinalAfterMs ? null : now + Math.min(Math.max(age, creditAgainFirstMs), creditAgainMaxMs)
}
