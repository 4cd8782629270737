/** Work that takes turns: some runs at once, the rest waits, and workspaces alternate. Held by test/unit/fair-queue.test.ts. */
import { problem } from '../../schemas/errors/problems.ts'

export interface TurnsOptions {
  /** All workspaces stand in one line; else each has its own. */
  readonly isShared: boolean
  /** That run at once in a line. */
  readonly atOnce: number
  /** More of one workspace that wait in a line are refused. */
  readonly waitingMax: number
  readonly refusal: 'workspace_busy' | 'click_maps_full'
}

/**
 * Runs work when it is its turn in its line: one workspace's work begins in the order in which it came.
 * @param waitMs who waits longer is refused, as are too many at once: nothing was done
 */
export type Turns = <Result>(workspaceId: number, waitMs: number, work: () => Promise<Result>) => Promise<Result>

interface Line {
  underWay: number
  /** By workspace, those whose turn was longest ago first. None is empty. */
  readonly waiting: Map<number, (() => void)[]>
}

/** No workspace has the id. */
const sharedLine = 0

export function makeTurns({ isShared, atOnce, waitingMax, refusal }: TurnsOptions): Turns {
  const lines = new Map<number, Line>()

  async function waitIn({ waiting }: Line, workspaceId: number, waitMs: number): Promise<void> {
    const own = waiting.get(workspaceId) ?? []
    if (own.length >= waitingMax) throw problem(refusal)
    waiting.set(workspaceId, own)
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        own.splice(own.indexOf(begin), 1)
        if (own.length === 0) waiting.delete(workspaceId)
        reject(problem(refusal))
      }, waitMs)
      own.push(begin)
    })
  }

  return async (workspaceId, waitMs, work) => {
    const name = isShared ? sharedLine : workspaceId
    const line = lines.get(name) ?? { underWay: 0, waiting: new Map() }
    lines.set(name, line)
    // Whoever ends hands its place on, so that nobody overtakes those who wait.
    if (line.underWay < atOnce) line.underWay++
    else await waitIn(line, workspaceId, waitMs)
    try {
      return await work()
    } finally {
      const next = nextOf(line, workspaceId)
      if (next !== undefined) next()
      else if (--line.underWay === 0) lines.delete(name)
    }
  }
}

/** Takes the next one out of the line: another workspace's than the one whose turn just ended, if one waits. */
function nextOf({ waiting }: Line, ended: number): (() => void) | undefined {
  const workspaceId = [...waiting.keys()].find((one) => one !== ended) ?? ended
  const own = waiting.get(workspaceId)
  const next = own?.shift()
  waiting.delete(workspaceId)
  if (own !== undefined && own.length > 0) waiting.set(workspaceId, own)
  return next
}
