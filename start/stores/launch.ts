/**
 * Starts a store's program so that it ends with this process, even when that is killed: where the system has `setpriv`,
 * by the kernel's parent-death signal; elsewhere the next start on the same folder ends what was left over.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { childEnvironment } from '../../runtime/config.ts'

/** A system user to run as, because the program refuses to run as root. */
export interface RunAs {
  uid: number
  gid: number
}

export interface Launch {
  command: string
  args: string[]
  /** Where its output goes: a file, which outlives this process as a pipe would not. */
  logFile: string
  env?: Record<string, string>
  /** What ends it in an orderly way. */
  endSignal: 'SIGINT' | 'SIGTERM'
  runAs?: RunAs
  /** Paths that the user must reach. */
  reaches?: string[]
}

const logBytesMax = 10 * 2 ** 20

export function launch(program: Launch): ChildProcess {
  mkdirSync(dirname(program.logFile), { recursive: true })
  const output = openSync(program.logFile, 'a', 0o600)
  if (statSync(program.logFile).size > logBytesMax) truncateSync(program.logFile)
  const { command, args, credentials } = bound(program)
  const env = childEnvironment(program.env)
  try {
    return spawn(command, args, { ...credentials, env, stdio: ['ignore', output, output] })
  } finally {
    closeSync(output)
  }
}

/** Runs a program to its end; throws its output when it fails. */
export function runOnce(program: Omit<Launch, 'logFile' | 'endSignal'>): void {
  const { command, args, credentials } = bound({ ...program, endSignal: 'SIGTERM' })
  const env = childEnvironment(program.env)
  const { status, error, stderr, stdout } = spawnSync(command, args, { ...credentials, env, encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`${program.command} failed: ${(stderr || stdout).trim()}`)
}

function bound(program: Omit<Launch, 'logFile'>): { command: string; args: string[]; credentials: Partial<RunAs> } {
  const { command, args, runAs, endSignal } = program
  if (!hasSetpriv()) return { command, args, credentials: runAs ?? {} }
  const options = ['--pdeathsig', endSignal.slice(3)]
  if (runAs) {
    options.push(`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups')
    // The project or its data may lie in root's own home: then the program keeps root's right to pass closed folders.
    const isShut = (program.reaches ?? []).some((path) => !canReach(path, runAs))
    if (isShut) options.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override')
  }
  return { command: 'setpriv', args: [...options, command, ...args], credentials: {} }
}

let setpriv: boolean | undefined
function hasSetpriv(): boolean {
  setpriv ??= process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true']).status === 0
  return setpriv
}

function canReach(path: string, { uid, gid }: RunAs): boolean {
  const full = resolve(path)
  if (full === '/') return true
  const { mode, uid: owner, gid: group } = statSync(full)
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
  return (mode & bit) !== 0 && canReach(dirname(full), { uid, gid })
}

/** True when process `pid` is alive and was started with `part` in its command line. */
export function isRunning(pid: number, part: string): boolean {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(part)
    } catch {
      return false
    }
  }
  return spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout?.includes(part) ?? false
}

/** Ends a process that an earlier start on the same folder left behind. */
export async function endLeftOver(pid: number, part: string, signal: NodeJS.Signals): Promise<void> {
  const waitMs = 10_000
  for (const [how, ms] of [
    [signal, waitMs],
    ['SIGKILL', waitMs],
  ] as const) {
    if (!isRunning(pid, part)) return
    process.kill(pid, how)
    for (let waited = 0; waited < ms && isRunning(pid, part); waited += 50)
      await new Promise((go) => setTimeout(go, 50))
  }
  if (isRunning(pid, part)) throw new Error(`process ${pid} of an earlier start doesn't end`)
}
