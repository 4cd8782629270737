/**
 * Some mutations of a workspace run at once; others wait for their turn. They would mostly wait for the same rows, with one of
 * Postgres' few connections each, and other workspaces would get none. Held by test/unit/mutation-turns.test.ts.
 */
import { problem } from '../../schemas/errors/problems.ts'
import { mutationsAtOnceMax, mutationsWaitingMax } from '../../schemas/limits/api-limits.ts'

export type MutationTurns = <Result>(workspaceId: number, mutate: () => Promise<Result>) => Promise<Result>

interface Line {
  underWay: number
  readonly waiting: (() => void)[]
}

/**
 * Runs a mutation when it is its workspace's turn.
 * @param waitMs who waits longer is refused, as are too many at once: nothing was done
 */
export function makeMutationTurns(waitMs: number): MutationTurns {
  const lines = new Map<number, Line>()

  async function waitIn({ waiting }: Line): Promise<void> {
    if (waiting.length >= mutationsWaitingMax) throw problem('workspace_busy')
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(begin), 1)
        reject(problem('workspace_busy'))
      }, waitMs)
      waiting.push(begin)
    })
  }

  return async (workspaceId, mutate) => {
    const line = lines.get(workspaceId) ?? { underWay: 0, waiting: [] }
    lines.set(workspaceId, line)
    // Whoever ends hands its place on, so that nobody overtakes those who wait.
    if (line.underWay < mutationsAtOnceMax) line.underWay++
    else await waitIn(line)
    try {
      return await mutate()
    } finally {
      const next = line.waiting.shift()
      if (next !== undefined) next()
      else if (--line.underWay === 0) lines.delete(workspaceId)
    }
  }
}
