/**
 * Orderly stop: steps run once, in the order they were added (listeners, then writers, then clients), each with a
 * deadline. SIGTERM, SIGINT or a closed channel of the supervisor begins it.
 */
import type { Log } from './log.ts'

const stepDeadlineMs = 20_000

export interface Shutdown {
  /** Adds a step to the end of the list. */
  step(name: string, run: () => Promise<void> | void): void
  /** Runs the steps and ends the process. */
  stop(reason: string, exitCode?: number): Promise<void>
}

export function makeShutdown(log: Log, exit: (code: number) => void = process.exit): Shutdown {
  const steps: { name: string; run: () => Promise<void> | void }[] = []
  let stopping: Promise<void> | undefined

  async function runSteps(reason: string, exitCode: number): Promise<void> {
    log.info({ reason }, 'stopping')
    let code = exitCode
    for (const { name, run } of steps) {
      try {
        await withDeadline(Promise.resolve(run()), stepDeadlineMs, name)
      } catch (error) {
        code = 1
        log.error({ step: name, err: error }, 'a step of the stop failed')
      }
    }
    log.info('stopped')
    exit(code)
  }

  const shutdown: Shutdown = {
    step: (name, run) => {
      steps.push({ name, run })
    },
    stop: (reason, exitCode = 0) => {
      stopping ??= runSteps(reason, exitCode)
      return stopping
    },
  }
  process.on('SIGTERM', () => void shutdown.stop('SIGTERM'))
  process.on('SIGINT', () => {
    // A terminal's Ctrl-C reaches a supervisor's children too, all at once: the supervisor stops them in their order.
    if (!process.connected) void shutdown.stop('SIGINT')
  })
  // A child of the supervisor has a channel to it: when that closes, the supervisor is gone, even by kill -9.
  process.on('disconnect', () => void shutdown.stop('the supervisor is gone'))
  return shutdown
}

/** Rejects when `work` takes longer than `deadlineMs`; the work itself goes on. */
export async function withDeadline<T>(work: Promise<T>, deadlineMs: number, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} took longer than ${deadlineMs} ms`)), deadlineMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
