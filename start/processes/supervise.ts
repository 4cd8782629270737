/** Keeps a child process running: starts it, starts it again when it dies, and ends it in an orderly way. */
import type { ChildProcess } from 'node:child_process'
import { backoffMs, sleep } from '../../runtime/retry.ts'
import { withLastLine } from './log-file.ts'

export interface Runnable {
  readonly name: string
  /** Starts the program; called again after its death. */
  spawn(): ChildProcess
  /** Resolves once it serves; rejects when it can't be expected to. */
  ready(child: ChildProcess): Promise<void>
  readonly endSignal: NodeJS.Signals
  readonly logFile: string
}

export interface Supervised {
  readonly name: string
  readonly pid: number | undefined
  /** True from when it serves until it dies. */
  readonly isUp: boolean
  /** Resolves when it first serves; rejects when it dies a few times before that. */
  readonly firstUp: Promise<void>
  /** From now on its death is final. */
  letDie(): void
  /** Ends it in an orderly way. */
  stop(): Promise<void>
}

export interface Watcher {
  /** The pid of a process, or whether it is up, has changed. */
  changed(): void
  /** A process ended by itself. It is started again in `againInMs`. */
  died(name: string, how: string, againInMs: number): void
}

const firstStartsMax = 3
const firstRetryMs = 100
const lastRetryMs = 5_000
/** A process that ran for two seconds doesn't fail by itself at its start: its next death is retried at once. */
const steadyMs = 2_000
/** Longer than the sum of a service's own steps when it stops. */
const endWithinMs = 30_000

/** Runs a process until `stop`: starts it again whenever it dies, later each time that it dies at once. */
export function supervise(runnable: Runnable, watcher: Watcher): Supervised {
  const stopping = new AbortController()
  let child: ChildProcess | undefined
  let isUp = false
  let settleFirstUp: { resolve: () => void; reject: (error: Error) => void }
  const firstUp = new Promise<void>((resolve, reject) => {
    settleFirstUp = { resolve, reject }
  })
  // Whoever waits for it sees the failure; nobody waiting is no reason to end the process.
  firstUp.catch(() => {})
  const running = run()

  async function run(): Promise<void> {
    let wasUp = false
    for (let failures = 0; !stopping.signal.aborted; ) {
      const startedAt = Date.now()
      const how = await runOnce(() => {
        wasUp = true
        settleFirstUp.resolve()
      })
      if (stopping.signal.aborted) return
      const lastedMs = Date.now() - startedAt
      failures = wasUp && lastedMs > steadyMs ? 0 : failures + 1
      if (!wasUp && failures >= firstStartsMax) {
        const why = withLastLine(how, runnable.logFile)
        settleFirstUp.reject(new Error(`${runnable.name} doesn't start (${why}); see ${runnable.logFile}`))
        return
      }
      const waitMs = failures <= 1 ? firstRetryMs : backoffMs(failures, firstRetryMs, lastRetryMs)
      watcher.died(runnable.name, how, waitMs)
      await sleep(waitMs, stopping.signal)
    }
  }

  /** Runs it until it ends; returns how it ended. */
  async function runOnce(onUp: () => void): Promise<string> {
    let current: ChildProcess
    try {
      current = runnable.spawn()
    } catch (error) {
      return (error as Error).message
    }
    child = current
    const ended = new Promise<string>((resolve) => {
      current.once('error', (error) => resolve(error.message))
      current.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    })
    watcher.changed()
    let why: string | undefined
    runnable.ready(current).then(
      () => {
        if (child !== current) return
        isUp = true
        onUp()
        watcher.changed()
      },
      (error: Error) => {
        why = error.message
        current.kill('SIGKILL')
      },
    )
    const how = await ended
    isUp = false
    child = undefined
    watcher.changed()
    return why ?? how
  }

  return {
    name: runnable.name,
    get pid() {
      return child?.pid
    },
    get isUp() {
      return isUp
    },
    firstUp,
    letDie: () => stopping.abort(),
    stop: async () => {
      stopping.abort()
      const last = child
      last?.kill(runnable.endSignal)
      const timer = setTimeout(() => last?.kill('SIGKILL'), endWithinMs)
      await running
      clearTimeout(timer)
    },
  }
}
