/**
 * Decimals of currencies. Intl isn't asked: it knows how many are usually shown, which for some currencies are fewer than
 * their smallest unit has.
 */

/** ISO 4217:2015, list one, where a currency has another number of decimals than two. */
const otherDecimals: ReadonlyMap<string, number> = new Map(
  (
    [
      [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
      [3, 'BHD IQD JOD KWD LYD OMR TND'],
      [4, 'CLF UYW'],
    ] as const
  ).flatMap(([decimals, codes]) => codes.split(' ').map((code) => [code, decimals])),
)

/** Decimals of a currency's smallest unit: `value_cents` of yen are yen, of dollars hundredths. */
export function decimalsOf(currency: string): number {
  return otherDecimals.get(currency) ?? 2
}
