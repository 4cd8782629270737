/**
 * Credits payments to the last non-direct touch of who paid, on whichever browser or server it was. Touches and identities may come after a payment, so it is credited
 * when it comes, again at twice its age, and when an identify of its payer comes; after 30 days no more. A repeat computes
 * the same anew.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  type ContactTouchEvent,
  gatherContacts,
  readTouchesOfContacts,
} from '../../clickhouse/queries/people/contact-events.ts'
import type { Postgres } from '../../postgres/client.ts'
import { readBindingsOfContacts } from '../../postgres/tables/bindings.ts'
import { findContactsByHash, readContactKeys } from '../../postgres/tables/contacts.ts'
import { readCurrentBuild } from '../../postgres/tables/figure-builds.ts'
import {
  type CreditedPayment,
  type DuePayment,
  keepCredits,
  listDuePayments,
  listPayers,
  type Payer,
  recreditIdentified,
  saveCredits,
} from '../../postgres/tables/revenue-credits.ts'
import { listWorkspaces } from '../../postgres/tables/workspaces.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { IdentityHashes } from '../../runtime/crypto/identity-hash.ts'
import { creditWindowMs } from '../../schemas/limits/core-limits.ts'
import {
  creditAgainFirstMs,
  creditAgainMaxMs,
  creditedEach,
  creditFinalAfterMs,
  creditNewsMs,
  creditRunMs,
  creditTouchesMax,
} from '../../schemas/limits/revenue-limits.ts'
import { groupBy } from '../fold/group-by.ts'
import { keptFromOf } from '../retention/retention.ts'
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
    const keptFrom = keptFromOf(await listWorkspaces(pg), clock.now())
    const credited: CreditedPayment[] = []
    for (const [workspaceId, payments] of groupBy(due, (payment) => payment.workspaceId)) {
      credited.push(...(await creditPayments(context, workspaceId, payments)))
    }
    const before = new Map(due.map((payment) => [payment.id, payment]))
    // The touch may be deleted by now: what it was credited to stays.
    const isKept = ({ id, rule }: CreditedPayment) => {
      const { rule: had, occurredAt, workspaceId } = before.get(id)!
      return had === 'touch' && rule !== 'touch' && occurredAt - creditWindowMs < (keptFrom.get(workspaceId) ?? 0)
    }
    await keepCredits(pg, credited.filter(isKept))
    await saveCredits(
      pg,
      credited.filter((one) => !isKept(one)),
    )
  }
}

async function creditPayments(
  { pg, ch, clock, hashes }: Crediting,
  workspaceId: number,
  payments: readonly DuePayment[],
): Promise<CreditedPayment[]> {
  const build = await readCurrentBuild(pg, workspaceId)
  const payers = await listPayers(pg, payments)
  const ofContacts = await touchesOfPayers({ pg, ch }, payments, payers)
  const ofVisitors = payments.map(({ id, occurredAt }) => {
    const { browsers, contactId, unbound } = payers.get(id)!
    const visitorsOf = (named: readonly string[]) => named.map((browser) => hashes.visitorOf(workspaceId, browser))
    const visitors = visitorsOf(browsers)
    if (contactId === null) return { id, at: occurredAt, visitors, counted: visitors, touches: [] }
    const counted = visitorsOf(unbound === null ? [] : [unbound])
    return { id, at: occurredAt, visitors, counted, touches: ofContacts.get(contactId) ?? [] }
  })
  const credits = build === undefined ? undefined : await readCredits(ch, build, ofVisitors)
  return payments.map(({ id, due, recordedAt }) => ({
    ...(credits?.get(id) ?? uncredited),
    ...{ id, due, nextDue: nextDueOf(recordedAt, clock.now()) },
  }))
}

/** Touches of contacts in the time before their payments, by contact. */
async function touchesOfPayers(
  { pg, ch }: Pick<Crediting, 'pg' | 'ch'>,
  payments: readonly DuePayment[],
  payers: ReadonlyMap<number, Payer>,
): Promise<ReadonlyMap<number, ContactTouchEvent[]>> {
  const known = payments.filter(({ id }) => payers.get(id)!.contactId !== null)
  if (known.length === 0) return new Map()
  const contactIds = [...new Set(known.map(({ id }) => payers.get(id)!.contactId!))]
  const contacts = await gatherContacts(ch, {
    wanted: await readContactKeys(pg, contactIds),
    bindings: await readBindingsOfContacts(pg, contactIds),
    findByHash: (hashes) => findContactsByHash(pg, hashes),
  })
  const times = known.map(({ occurredAt }) => occurredAt)
  const span = { start: Math.min(...times) - creditWindowMs, end: Math.max(...times), limit: creditTouchesMax }
  return groupBy(await readTouchesOfContacts(ch, contacts, span), ({ contactId }) => contactId)
}

function nextDueOf(recordedAt: number, now: number): number | null {
  const age = now - recordedAt
  return age > creditFinalAfterMs ? null : now + Math.min(Math.max(age, creditAgainFirstMs), creditAgainMaxMs)
}
