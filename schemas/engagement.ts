/** How a published post does on its network. Networks count differently, and none says all. */

/** Null: the network doesn't say. */
export interface Figures {
  readonly likes: number | null
  readonly comments: number | null
  readonly shares: number | null
  readonly views: number | null
}

/** Adds the counts that are known; null where none is. */
export function sumOf(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null)
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0)
}

export function sumOfFigures(all: readonly Figures[]): Figures {
  const sum = (name: keyof Figures) => sumOf(all.map((figures) => figures[name]))
  return { likes: sum('likes'), comments: sum('comments'), shares: sum('shares'), views: sum('views') }
}
