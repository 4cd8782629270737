/** Watches, while a load runs, how much memory processes have, and whether that grows. */
import { sleep } from '../../runtime/retry.ts'
import { memoryOf } from './cpu.ts'

export interface MemoryCourse {
  readonly name: string
  /** Means of the second and of the last quarter of the time, in MB. */
  readonly early: number
  readonly late: number
  readonly max: number
  readonly isFlat: boolean
}

const everyMs = 1_000
const megabyte = 1_000_000
/** So much more, or so many MB, may be caches that fill and garbage that waits. */
const shareMore = 1.15
const chanceMb = 40

/** @returns a function that ends the watch and says how it went, by process */
export function watchMemory(processes: Readonly<Record<string, number>>): () => Promise<MemoryCourse[]> {
  const samples: Record<string, number[]> = Object.fromEntries(Object.keys(processes).map((name) => [name, []]))
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      for (const [name, pid] of Object.entries(processes)) samples[name]!.push(memoryOf(pid).now / megabyte)
      await sleep(everyMs)
    }
  })()
  watching.catch(() => {})
  return async () => {
    isOver = true
    await watching
    return Object.entries(samples).map(([name, values]) => courseOf(name, values))
  }
}

function courseOf(name: string, values: readonly number[]): MemoryCourse {
  const mean = (from: number, to: number) => {
    const within = values.slice(Math.floor(values.length * from), Math.ceil(values.length * to))
    return within.reduce((sum, value) => sum + value, 0) / Math.max(1, within.length)
  }
  const [early, late] = [mean(0.25, 0.5), mean(0.75, 1)]
  return { name, early, late, max: Math.max(...values), isFlat: late <= early * shareMore + chanceMb }
}
