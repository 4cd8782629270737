/** A program of our own as a child. Its channel tells when it is ready; the channel's end tells it that we are gone. */
import { type ChildProcess, fork } from 'node:child_process'
import { closeSync } from 'node:fs'
import { childEnvironment } from '../../runtime/config.ts'
import { openLogFile } from './log-file.ts'
import type { Runnable } from './supervise.ts'

export interface Program {
  name: string
  /** The compiled JavaScript file. */
  file: string
  /** Arguments; by one of them a left-over process is recognised, so name the data folder. */
  args: string[]
  env: Record<string, string | undefined>
  logFile: string
  /** Asked at each start. Left out: it may take as long as it needs, as a service that waits for its stores. */
  readyWithinMs?(): number
  /** Told of each message that the child sends. */
  onMessage?(message: unknown): void
}

export function ownProgram({ name, file, args, env, logFile, readyWithinMs, onMessage }: Program): Runnable {
  return {
    name,
    logFile,
    endSignal: 'SIGTERM',
    spawn: () => {
      const output = openLogFile(logFile)
      try {
        const stdio = ['ignore', output, output, 'ipc'] as ('ignore' | 'ipc' | number)[]
        const child = fork(file, args, { env: childEnvironment(env), stdio, execArgv: [] })
        if (onMessage !== undefined) child.on('message', onMessage)
        return child
      } finally {
        closeSync(output)
      }
    },
    ready: (child) => untilReady(child, readyWithinMs?.()),
  }
}

/** Resolves on the child's message. A child that ends has an event for it. */
function untilReady(child: ChildProcess, withinMs?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const isLate = () => reject(new Error(`not ready within ${withinMs! / 1000} s`))
    const late = withinMs === undefined ? undefined : setTimeout(isLate, withinMs)
    child.once('exit', () => clearTimeout(late))
    child.on('message', (message) => {
      if ((message as { type?: string }).type !== 'ready') return
      clearTimeout(late)
      resolve()
    })
  })
}
