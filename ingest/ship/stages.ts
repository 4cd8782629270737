/** Loops that do one thing after another, sleep until there is more, and go on later when something fails. */
import type { Log } from '../../runtime/log.ts'
import { backoffMs, sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'

const retryFirstMs = 200
const retryMaxMs = 5_000
/** The first failures in a row are logged, then one in every `failuresBetweenLogs`. */
const failuresLogged = 3
const failuresBetweenLogs = 20

/** Does the next thing and answers for how long there is nothing to do (Infinity: until woken). */
export type Stage = () => Promise<number>

export class Stages {
  private readonly stopping = new AbortController()
  private readonly running: Promise<void>[] = []
  private readonly wakeUps = new Set<() => void>()

  constructor(
    private readonly log: Log,
    private readonly countFailure: () => void,
  ) {}

  /** Runs a stage until `close`. */
  run(stage: Stage): void {
    this.running.push(this.loop(stage))
  }

  /** There is more to do. */
  wake(): void {
    for (const wakeUp of [...this.wakeUps]) wakeUp()
  }

  /** Resolves when no stage runs any more; each finishes the step that it is in. */
  async close(): Promise<void> {
    this.stopping.abort()
    this.wake()
    await Promise.all(this.running)
  }

  private async loop(stage: Stage): Promise<void> {
    for (let failures = 0; !this.stopping.signal.aborted; ) {
      try {
        const pause = await stage()
        failures = 0
        if (pause > 0 && !this.stopping.signal.aborted) await this.pause(pause)
      } catch (error) {
        failures++
        this.countFailure()
        const level = error instanceof StoreUnavailable ? 'warn' : 'error'
        if (failures <= failuresLogged || failures % failuresBetweenLogs === 0) {
          this.log[level]({ err: error, failures }, 'shipping goes on later')
        }
        await sleep(backoffMs(failures - 1, retryFirstMs, retryMaxMs), this.stopping.signal)
      }
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.wakeUps.delete(end)
        resolve()
      }
      const timer = Number.isFinite(ms) ? setTimeout(end, ms) : undefined
      this.wakeUps.add(end)
    })
  }
}
