/** Facts about a payment from one event of its provider, or one line of an import. */
export const revenueProviders = ['stripe', 'paddle', 'lemonsqueezy', 'custom'] as const
export type RevenueProvider = (typeof revenueProviders)[number]

/** Smallest units of the currency, as the provider counts them. */
export interface Money {
  readonly valueCents: number
  /** ISO 4217, in upper case. */
  readonly currency: string
}

/** An identifier that isn't reported is undefined. */
export interface Payer {
  readonly email?: string | undefined
  readonly userId?: string | undefined
  readonly anonymousId?: string | undefined
}

/** A value below zero came back: a chargeback that was won, or a refund that failed. */
interface Refund extends Money {
  /** The provider's id of it; undefined where the value is the total of all refunds so far. */
  readonly refund: string | undefined
  /** The provider tells a lower total once a refund has failed, so that one may come again. */
  readonly canTotalFall?: boolean
  /** Milliseconds since 1970. */
  readonly occurredAt: number
  /** As of the payment. */
  readonly movedAt?: number
}

/** The most specific first: the first of them tells who paid. */
export const referenceKinds = ['payment', 'charge', 'invoice', 'subscription', 'customer'] as const

/** Those of the ids that are there. */
export function referencesOf(ids: Partial<Record<(typeof referenceKinds)[number], string | undefined>>): string[] {
  return referenceKinds.flatMap((kind) => (ids[kind] === undefined ? [] : [`${kind}:${ids[kind]}`]))
}

/** All of it comes to the same ledger in any order, and a repeat changes nothing. */
export interface RevenueFacts {
  /** Undefined where the event only tells who pays. */
  readonly payment?: {
    readonly id: string
    /** When it was paid, as far as is known; milliseconds since 1970. */
    readonly occurredAt: number
    /** When the money moved, where that may be later: whether it is news goes by it. */
    readonly movedAt?: number | undefined
    /** The amount; undefined where only refunds of it are reported. */
    readonly paid: Money | undefined
    readonly refunds: readonly Refund[]
  }
  /** Names by which payments and payers find each other, each a kind of `referenceKinds`, `:` and the provider's id. */
  readonly references: readonly string[]
  readonly payer: Payer
  /** When the payer was reported. */
  readonly reportedAt: number
}

const known: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export function isCurrency(code: string): boolean {
  return known.has(code)
}
