/** Lists of numbers in ascending order. */

/** The place of the first number that is at least this one; the list's length, where there is none. */
export function firstFrom(sorted: ArrayLike<number>, least: number): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (sorted[middle]! < least) from = middle + 1
    else to = middle
  }
  return from
}
