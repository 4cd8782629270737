/**
 * Logs are written when a request ends, so their lines are out of order by a little; sessions need them in order. Items
 * wait until the newest is `windowMs` ahead of them; of more than `itemsMax` waiting, the older half is let go. An item
 * that comes later than that is passed on late.
 */
export interface ReorderBuffer<Item> {
  /** Takes one and returns what may go now, in order of time. */
  push(time: number, item: Item): Item[]
  /** Returns the items that still wait, in order. */
  end(): Item[]
}

export function makeReorderBuffer<Item>(windowMs: number, itemsMax: number): ReorderBuffer<Item> {
  const waiting: { time: number; arrival: number; item: Item }[] = []
  let arrivals = 0
  let newest = Number.NEGATIVE_INFINITY
  /** Sorting is put off until twice the window has gathered, so that each item is sorted about twice in all. */
  let oldest = Number.POSITIVE_INFINITY

  function release(count: (sorted: typeof waiting) => number): Item[] {
    waiting.sort((a, b) => a.time - b.time || a.arrival - b.arrival)
    const going = waiting.splice(0, count(waiting))
    oldest = waiting[0]?.time ?? Number.POSITIVE_INFINITY
    return going.map(({ item }) => item)
  }

  return {
    push: (time, item) => {
      waiting.push({ time, arrival: arrivals++, item })
      newest = Math.max(newest, time)
      oldest = Math.min(oldest, time)
      if (waiting.length > itemsMax) return release((sorted) => Math.ceil(sorted.length / 2))
      if (newest - oldest <= 2 * windowMs) return []
      return release((sorted) => {
        const firstToStay = sorted.findIndex((one) => one.time > newest - windowMs)
        return firstToStay === -1 ? sorted.length : firstToStay
      })
    },
    end: () => release((sorted) => sorted.length),
  }
}
