/** One part of the statement of pages: a SELECT of some figures of each page, which add up over all parts. */
export const pageSums = [
  'pageviews',
  'visitors',
  'sessions',
  'entries',
  'bounces',
  'exits',
  'conversions',
  'engaged_ms',
  'timed_views',
  'depths',
  'scrolled',
  'revenue',
] as const
type PageSum = (typeof pageSums)[number]

/** Parts with the values of their parameters. */
export interface PageParts {
  readonly parts: readonly string[]
  readonly params: Readonly<Record<string, unknown>>
}

/**
 * @param page SQL of the hash that tells pages apart: grouping events by paths takes twice the time
 * @param name SQL of its path, where the part knows it
 */
export function pagePart(
  { page, name = "''", ...figures }: { page: string; name?: string } & Partial<Record<PageSum, string>>,
  source: string,
): string {
  const sums = pageSums.map((sum) => `toInt64(${figures[sum] ?? '0'}) AS ${sum}`)
  return `SELECT ${page} AS page,${name} AS name,${sums.join(',')} ${source}`
}
