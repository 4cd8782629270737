/**
 * Credits payments to the last non-direct touch of who paid, on whichever browser or server it was. Touches and
 * identities may come after a payment. So it is credited when it comes, again at twice its age, and when an identify of
 * its payer comes; after 30 days no more. A repeat computes the same anew.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { gatherContacts } from '../../clickhouse/queries/people/contact-events.ts'
import { readLastEvents } from '../../clickhouse/queries/people/contact-touches.ts'
import type { Postgres, Queryable } from '../../postgres/client.ts'
import { readPostgresClock } from '../../postgres/clock.ts'
import { readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { readBindingsOfContacts } from '../../postgres/tables/people/bindings.ts'
import { findContactsByHash, readContactKeys } from '../../postgres/tables/people/contacts.ts'
import {
  type CreditedPayment,
  type DuePayment,
  listDuePayments,
  listPayers,
  type Payer,
  postponeCredits,
  saveCredits,
} from '../../postgres/tables/revenue/revenue-credits.ts'
import { lockLedger } from '../../postgres/tables/revenue/revenue-ledger.ts'
import { listWorkspacesAmong } from '../../postgres/tables/workspaces/workspaces.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { groupBy } from '../../runtime/lists.ts'
import { creditWindowMs } from '../../schemas/limits/figure-limits.ts'
import {
  creditAgainFirstMs,
  creditAgainMaxMs,
  creditedEach,
  creditFinalAfterMs,
  creditRetryMs,
  creditRunMs,
} from '../../schemas/limits/revenue-limits.ts'
import { keptFromOf } from '../retention/retention.ts'
import { type PersonTouch, readCredits, uncredited } from './read-payment-credits.ts'

export interface Crediting {
  readonly pg: Postgres
  readonly ch: Pick<ClickHouse, 'query'>
  readonly hashes: IdentityHashes
}

/**
 * Credits due payments, for a bounded time. A workspace whose payments can't be credited now waits, and the others don't.
 * @throws what the first one failed by
 */
export async function creditRevenue(context: Crediting, signal: AbortSignal): Promise<void> {
  const { pg } = context
  const end = performance.now() + creditRunMs
  while (!signal.aborted && performance.now() < end) {
    const due = await listDuePayments(pg, creditedEach)
    if (due.length === 0) return
    const byWorkspace = groupBy(due, ({ workspaceId }) => workspaceId)
    const workspaces = await listWorkspacesAmong(pg, [...byWorkspace.keys()])
    const keptFrom = keptFromOf(workspaces, await readPostgresClock(pg))
    const failures: unknown[] = []
    for (const [workspaceId, payments] of byWorkspace) {
      try {
        await creditWorkspace(context, workspaceId, payments, keptFrom.get(workspaceId) ?? 0)
      } catch (error) {
        failures.push(error)
        const nextDue = (await readPostgresClock(pg)) + creditRetryMs
        // Staggered, because one bad payment fails all payments that are read with it.
        const later = payments.map(({ id, due }, nth) => ({
          id,
          due,
          nextDue: nextDue + (creditRetryMs * nth) / payments.length,
        }))
        await holdingLedger(pg, workspaceId, (tx) => postponeCredits(tx, later))
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/** @param keptFrom earlier events of the workspace may be deleted by now: milliseconds since 1970 */
async function creditWorkspace(
  context: Crediting,
  workspaceId: number,
  payments: readonly DuePayment[],
  keptFrom: number,
): Promise<void> {
  const credited = await creditPayments(context, workspaceId, payments)
  const before = new Map(payments.map((payment) => [payment.id, payment]))
  // The touch or the session may be deleted by now: the payment keeps its credit.
  const isKept = ({ id, rule }: CreditedPayment) => {
    const { rule: had, occurredAt, sessionAt } = before.get(id)!
    const isLess = rules.indexOf(rule) > rules.indexOf(had)
    const creditedFrom = (had === 'session' ? sessionAt : null) ?? occurredAt - creditWindowMs
    return isLess && creditedFrom < keptFrom
  }
  await holdingLedger(context.pg, workspaceId, async (tx) => {
    await postponeCredits(tx, credited.filter(isKept))
    await saveCredits(
      tx,
      credited.filter((one) => !isKept(one)),
    )
  })
}

/** An import changes the same payments in another order. */
function holdingLedger(pg: Postgres, workspaceId: number, write: (tx: Queryable) => Promise<void>): Promise<void> {
  return pg.transaction(async (tx) => {
    await lockLedger(tx, workspaceId)
    await write(tx)
  })
}

/** The one that says most comes first. */
const rules: readonly CreditedPayment['rule'][] = ['touch', 'session', 'none']

async function creditPayments(
  { pg, ch, hashes }: Crediting,
  workspaceId: number,
  payments: readonly DuePayment[],
): Promise<CreditedPayment[]> {
  const build = await readCurrentBuild(pg, workspaceId)
  const payers = await listPayers(pg, payments)
  const ofContacts = await readLastOfPayers({ pg, ch }, payments, payers)
  const ofVisitors = payments.map(({ id, occurredAt }) => {
    const { browsers } = payers.get(id)!
    const visitors = browsers.map((browser) => hashes.visitorOf(workspaceId, browser))
    return { id, at: occurredAt, visitors, touch: ofContacts.touch.get(id), seen: ofContacts.seen.get(id) }
  })
  const credits = build === undefined ? undefined : await readCredits(ch, build, ofVisitors)
  const now = await readPostgresClock(pg)
  return payments.map(({ id, due, recordedAt }) => ({
    ...(credits?.get(id) ?? uncredited),
    id,
    due,
    nextDue: nextDueOf(recordedAt, now),
  }))
}

/** For payments that a contact made: the contact's last touch before the payment, or else the last event. */
async function readLastOfPayers(
  { pg, ch }: Pick<Crediting, 'pg' | 'ch'>,
  payments: readonly DuePayment[],
  payers: ReadonlyMap<number, Payer>,
): Promise<Record<'touch' | 'seen', ReadonlyMap<number, PersonTouch>>> {
  const known = payments.flatMap(({ id, occurredAt }) => {
    const { contactId } = payers.get(id)!
    return contactId === null ? [] : [{ id, contactId, at: occurredAt }]
  })
  if (known.length === 0) return { touch: new Map(), seen: new Map() }
  const contactIds = [...new Set(known.map(({ contactId }) => contactId))]
  const contacts = await gatherContacts(ch, {
    wanted: await readContactKeys(pg, contactIds),
    bindings: await readBindingsOfContacts(pg, contactIds),
    findByHash: (hashes) => findContactsByHash(pg, hashes),
  })
  const touch = await readLastEvents(ch, contacts, known, 'touch')
  const others = known.filter(({ id }) => !touch.has(id))
  return { touch, seen: others.length === 0 ? new Map() : await readLastEvents(ch, contacts, others, 'browser') }
}

/** By the clock that has set the time of its record, and by which it is due. */
function nextDueOf(recordedAt: number, now: number): number | null {
  const age = now - recordedAt
  return age > creditFinalAfterMs ? null : now + Math.min(Math.max(age, creditAgainFirstMs), creditAgainMaxMs)
}
