/** The content of a message about conversions, payments and refunds, as it waits in Postgres. It has nobody's e-mail. */

export interface ConversionLine {
  readonly kind: 'conversion'
  /** By it an erasure finds the line. */
  readonly event: number
  readonly name: string
  readonly path: string
  readonly source: string
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface MoneyLine {
  readonly kind: 'payment' | 'refund'
  readonly provider: string
  /** Smallest units of the currency. */
  readonly cents: number
  readonly currency: string
  readonly at: number
}

export type ToldLine = ConversionLine | MoneyLine
export const toldKinds = ['conversion', 'payment', 'refund'] as const
export type ToldKind = (typeof toldKinds)[number]

export interface ToldConversions {
  readonly counts: Readonly<Record<ToldKind, number>>
  /** The first ones of conversions, and of the others. */
  readonly lines: readonly ToldLine[]
  /** When the first one was noted; milliseconds since 1970. */
  readonly since: number
}
