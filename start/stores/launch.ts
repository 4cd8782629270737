/**
 * Starts a store's program so that it ends with this process, even when that is killed. Where the system has `setpriv`,
 * the kernel's parent-death signal ends it. Elsewhere the next start on the same folder ends a leftover program.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { childEnvironment } from '../../runtime/config.ts'
import { openLogFile } from '../processes/log-file.ts'

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
  /** The signal that ends it in an orderly way. */
  endSignal: 'SIGINT' | 'SIGTERM'
  runAs?: RunAs
  /** Paths that the user must reach. */
  reaches?: string[]
}

export function launch(program: Launch): ChildProcess {
  const output = openLogFile(program.logFile)
  const { command, args, credentials } = bound(program)
  const env = childEnvironment(program.env)
  try {
    // In a session of its own: a terminal's Ctrl-C is for the supervisor alone, which stops the stores last.
    return spawn(command, args, { ...credentials, env, stdio: ['ignore', output, output], detached: true })
  } finally {
    closeSync(output)
  }
}

/** Runs a program to its end; rejects with its output when it fails, or takes longer than `withinMs`. */
export async function runOnce(program: Omit<Launch, 'logFile' | 'endSignal'>, withinMs: number): Promise<void> {
  const { command, args, credentials } = bound({ ...program, endSignal: 'SIGTERM' })
  const env = childEnvironment(program.env)
  const child = spawn(command, args, { ...credentials, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let isLate = false
  const late = setTimeout(() => {
    isLate = child.kill('SIGKILL')
    // Its own children may have them still.
    for (const output of [child.stdout, child.stderr]) output.destroy()
  }, withinMs)
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (data: Buffer) => {
      said = (said + data).slice(-2_000)
    })
  }
  const [code] = await once(child, 'close').finally(() => clearTimeout(late))
  if (isLate) throw new Error(`${program.command} didn't end within ${withinMs / 1000} s: ${said.trim()}`)
  if (code !== 0) throw new Error(`${program.command} failed: ${said.trim()}`)
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
