/** Rows that a reader holds, by time: what lies between two moments is found without looking at the others, or copying them. */
import { firstFrom } from './ascending.ts'
import type { AlikeRows, PickedRows } from './rows-at-hand.ts'

export interface RowsInOrder {
  readonly ats: Float64Array
  /** Of each row, which group it is of. */
  readonly groups: Uint32Array
  /** The groups' texts, each with the lists of all rows. */
  readonly alike: readonly AlikeRows[]
}

export function inOrder(picked: readonly PickedRows[]): RowsInOrder {
  const found = picked.flatMap(({ rows, places }, group) =>
    Array.from(places ?? rows.ids.keys(), (place) => ({ rows, place, group })),
  )
  found.sort((one, other) => one.rows.ats[one.place]! - other.rows.ats[other.place]!)
  const list = (of: 'ids' | 'ats' | 'visitors' | 'sessions' | 'values') =>
    Float64Array.from(found, ({ rows, place }) => rows[of][place]!)
  const lists = {
    ids: list('ids'),
    ats: list('ats'),
    visitors: list('visitors'),
    sessions: list('sessions'),
    values: list('values'),
  }
  return {
    ats: lists.ats,
    groups: Uint32Array.from(found, ({ group }) => group),
    alike: picked.map(({ rows }) => ({ ...rows, ...lists })),
  }
}

/** Those from one moment to just before another. */
export function pickBetween({ ats, groups, alike }: RowsInOrder, start: number, end: number): PickedRows[] {
  const placesOf = new Map<number, number[]>()
  for (let place = firstFrom(ats, start); place < ats.length && ats[place]! < end; place++) {
    const group = groups[place]!
    const known = placesOf.get(group)
    if (known === undefined) placesOf.set(group, [place])
    else known.push(place)
  }
  return [...placesOf].map(([group, places]) => ({ rows: alike[group]!, places }))
}
