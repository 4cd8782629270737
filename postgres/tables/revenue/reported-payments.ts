/** Payments with their entries, as facts of providers and imports tell them, before the ledger knows them. */
import type { Money, RevenueFacts } from '../../../schemas/revenue.ts'

/** Facts of one provider. */
export interface ReportedFacts {
  readonly provider: string
  readonly facts: RevenueFacts
}

export interface Entry extends Money {
  readonly entry: string
  readonly totalCents: number | null
  readonly occurredAt: number
  readonly movedAt: number
}

/** All that is reported of one payment. */
export interface ReportedPayment {
  readonly provider: string
  readonly payment: string
  readonly references: Set<string>
  /** By their names. */
  readonly entries: Map<string, Entry>
}

/** The same for all that is reported of a payment. */
export const keyOf = ({ provider, payment }: { readonly provider: string; readonly payment: string }) =>
  `${provider} ${payment}`

/** A payment that is reported twice is one. A repeat of an entry may tell an earlier time; the amount is the first one's. */
export function gatherPayments(reported: readonly ReportedFacts[], now: number): Map<string, ReportedPayment> {
  const payments = new Map<string, ReportedPayment>()
  for (const { provider, facts } of reported) {
    const entries = entriesOf(facts.payment, now)
    if (entries.length === 0) continue
    const made: ReportedPayment = { provider, payment: facts.payment!.id, references: new Set(), entries: new Map() }
    const known = payments.get(keyOf(made)) ?? made
    payments.set(keyOf(made), known)
    for (const reference of facts.references) known.references.add(reference)
    for (const entry of entries) {
      const first = known.entries.get(entry.entry) ?? entry
      known.entries.set(entry.entry, { ...first, occurredAt: Math.min(first.occurredAt, entry.occurredAt) })
    }
  }
  return payments
}

/** Trials and full discounts are transactions of nothing: no payments. */
export function entriesOf(payment: RevenueFacts['payment'], now: number): Entry[] {
  if (payment === undefined) return []
  const { paid, refunds } = payment
  const at = (moment: number) => Math.min(moment, now)
  const timesOf = ({ occurredAt, movedAt = occurredAt }: Pick<typeof payment, 'occurredAt' | 'movedAt'>) => ({
    occurredAt: at(occurredAt),
    movedAt: at(movedAt),
  })
  const entries = [
    ...(paid ? [{ entry: 'payment', totalCents: null, ...paid, ...timesOf(payment) }] : []),
    ...refunds.map(({ refund, canTotalFall, valueCents, currency, ...times }) => ({
      entry:
        refund === undefined
          ? `total ${valueCents}${canTotalFall ? ` at ${new Date(times.occurredAt).toISOString()}` : ''}`
          : `refund ${refund}`,
      totalCents: refund === undefined ? valueCents : null,
      valueCents: -valueCents,
      currency,
      ...timesOf(times),
    })),
  ]
  return entries.filter(({ valueCents }) => valueCents !== 0)
}
