/** A queue in which some work runs at once and the rest waits, and workspaces alternate. Held by test/unit/fair-queue.test.ts. */
import { problem } from '../../schemas/errors/problems.ts'

export interface FairQueueOptions {
  /** All workspaces stand in one queue; else each has its own. */
  readonly isShared: boolean
  /** Items that run at once. */
  readonly atOnce: number
  /** Items of one workspace that may wait: more are refused. */
  readonly waitingMax: number
  readonly refusal: 'workspace_busy' | 'click_maps_full'
}

/**
 * Runs work once there is room in its queue. One workspace's work begins in the order in which it came.
 * @param waitMs who waits longer is refused, as are too many at once: nothing was done
 */
export type FairQueue = <Result>(workspaceId: number, waitMs: number, work: () => Promise<Result>) => Promise<Result>

interface Queue {
  underWay: number
  /** By workspace, those first that were served longest ago. None is empty. */
  readonly waiting: Map<number, (() => void)[]>
}

/** No workspace has the id. */
const sharedQueue = 0

export function makeFairQueue({ isShared, atOnce, waitingMax, refusal }: FairQueueOptions): FairQueue {
  const queues = new Map<number, Queue>()

  async function waitIn({ waiting }: Queue, workspaceId: number, waitMs: number): Promise<void> {
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
    const name = isShared ? sharedQueue : workspaceId
    const queue = queues.get(name) ?? { underWay: 0, waiting: new Map() }
    queues.set(name, queue)
    // Whoever ends hands its place on, so that nobody overtakes those who wait.
    if (queue.underWay < atOnce) queue.underWay++
    else await waitIn(queue, workspaceId, waitMs)
    try {
      return await work()
    } finally {
      const next = nextOf(queue, workspaceId)
      if (next !== undefined) next()
      else if (--queue.underWay === 0) queues.delete(name)
    }
  }
}

/** Takes the next one out of the queue: another workspace's than the one whose work just ended, if one waits. */
function nextOf({ waiting }: Queue, ended: number): (() => void) | undefined {
  const workspaceId = [...waiting.keys()].find((one) => one !== ended) ?? ended
  const own = waiting.get(workspaceId)
  const next = own?.shift()
  waiting.delete(workspaceId)
  if (own !== undefined && own.length > 0) waiting.set(workspaceId, own)
  return next
}
