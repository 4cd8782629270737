/**
 * Shares of a link's targets. Targets with the same device and countries have one audience, whose percent they divide
 * in their order: two with 33 each take 0–32 and 33–65. A visitor draws one percent for each audience of a link. With
 * one for all audiences, whoever draws too high for the first would miss the next one as well.
 *
 * Held by test/property/link-shares.test.ts.
 */
import { linkShareMax } from './limits/link-target-limits.ts'

export interface SharedTarget {
  readonly device?: string | undefined
  readonly countries?: readonly string[] | undefined
  /** Percent of the audience; undefined: all. */
  readonly share?: number | undefined
}

/** A target takes those who draw `from` or more, and less than `to`: percent of 0–99. */
export interface ShareRange {
  /** A text that targets with the same device and countries have. */
  readonly audience: string
  readonly from: number
  readonly to: number
}

/** The range of each target, in their order; undefined for one without a share. */
export function shareRanges(targets: readonly SharedTarget[]): (ShareRange | undefined)[] {
  const taken = new Map<string, number>()
  return targets.map(({ device = '', countries = [], share }) => {
    if (share === undefined) return undefined
    const audience = `${device} ${countries.toSorted().join()}`
    const from = taken.get(audience) ?? 0
    taken.set(audience, from + share)
    return { audience, from, to: from + share }
  })
}

/** Places of targets whose share is more than the ones before leave to it. */
export function excessiveShares(targets: readonly SharedTarget[]): number[] {
  return shareRanges(targets).flatMap((range, at) => (range !== undefined && range.to > linkShareMax ? [at] : []))
}
