/** Work that takes turns: some runs at once, the rest waits. Held by test/unit/turns.test.ts. */
import { problem } from '../../schemas/errors/problems.ts'

export interface TurnsOptions {
  /** That run at once in a line. */
  readonly atOnce: number
  /** More that wait in a line are refused. */
  readonly waitingMax: number
  readonly refusal: 'workspace_busy' | 'answer_late'
}

/**
 * Runs work when it is its turn in its line.
 * @param waitMs who waits longer is refused, as are too many at once: nothing was done
 */
export type Turns = <Result>(line: number, waitMs: number, work: () => Promise<Result>) => Promise<Result>

interface Line {
  underWay: number
  readonly waiting: (() => void)[]
}

export function makeTurns({ atOnce, waitingMax, refusal }: TurnsOptions): Turns {
  const lines = new Map<number, Line>()

  async function waitIn({ waiting }: Line, waitMs: number): Promise<void> {
    if (waiting.length >= waitingMax) throw problem(refusal)
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(problem(refusal))
      }, waitMs)
      waiting.push(begin)
    })
  }

  return async (name, waitMs, work) => {
    const line = lines.get(name) ?? { underWay: 0, waiting: [] }
    lines.set(name, line)
    // Whoever ends hands its place on, so that nobody overtakes those who wait.
    if (line.underWay < atOnce) line.underWay++
    else await waitIn(line, waitMs)
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      if (next !== undefined) next()
      else if (--line.underWay === 0) lines.delete(name)
    }
  }
}
