/** The known word that is closest to a mistyped one. */

/** Letters to add, drop or change to make `a` of `b`. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** The end of a message: names the closest of `known`, and is empty where more than a third of the letters differ. */
export function didYouMean(typed: string, known: readonly string[]): string {
  // A long text is no mistyped word, and would take long to compare.
  const text = typed.slice(0, comparedLengthMax)
  const [closest] = known.toSorted((a, b) => distance(text, a) - distance(text, b))
  const isClose = closest !== undefined && distance(text, closest) <= Math.max(2, text.length / 3)
  return isClose ? `; did you mean \`${closest}\`?` : ''
}
const comparedLengthMax = 60
