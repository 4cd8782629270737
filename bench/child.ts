/** Programs of ours as children of the bench: on the core they belong to, ready by message, ended by pid. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { childEnvironment } from '../runtime/config.ts'
import { lastLogLine, openLogFile } from '../start/processes/log-file.ts'
import { type Cores, startOnCore } from './measure/cores.ts'

export interface BenchChild {
  readonly pid: number
  readonly port: number
  readonly process: ChildProcess
  stop(): Promise<void>
}

export interface ChildOptions {
  /** Path in the compiled project: `ingest/main.js`. */
  readonly file: string
  readonly cores: Cores | string
  readonly side: keyof Cores
  readonly logFile: string
  readonly env?: Record<string, string>
  readonly programArguments?: string[]
}

const readyWithinMs = 120_000
/** More than what the services take for an orderly stop. */
const endWithinMs = 30_000

/** Starts it; a program that serves tells its port by `{ type: 'ready', port }`. */
export function forkChild(options: ChildOptions): ChildProcess {
  const output = openLogFile(options.logFile)
  try {
    return startOnCore(options.cores, options.side, () =>
      fork(fileURLToPath(new URL(`../${options.file}`, import.meta.url)), options.programArguments ?? [], {
        env: childEnvironment(options.env),
        stdio: ['ignore', output, output, 'ipc'],
        execArgv: [],
      }),
    )
  } finally {
    closeSync(output)
  }
}

export async function startChild(options: ChildOptions): Promise<BenchChild> {
  const child = forkChild(options)
  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), readyWithinMs)
    child.on('message', (message: { type?: string; port?: number }) => {
      if (message.type !== 'ready') return
      clearTimeout(timer)
      resolve(message.port!)
    })
    child.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(`${options.file} didn't start: ${lastLogLine(options.logFile)}`))
    })
  })
  return { pid: child.pid!, port, process: child, stop: () => stopProcess(child, 'SIGTERM') }
}

/** Asks it to end, and ends it when it doesn't. */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), endWithinMs)
  await exited
  clearTimeout(timer)
}
