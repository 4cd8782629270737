/**
 * Tools of the system that break what a process stands on: its disk, its syncs, its clock. A test without its tool, or
 * without the right to use it, is left out: see left-out.ts.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { sleep } from '../../runtime/retry.ts'

function findTool(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** Makes `folder` a file system of its own of so many bytes, in memory. Returns why that can't be done, or nothing. */
export function mountSmallDisk(folder: string, bytes: number): string | undefined {
  mkdirSync(folder, { recursive: true })
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (status === 0) return undefined
  return `needs the right to mount a tmpfs: ${(error?.message ?? stderr).trim()}`
}

/** Lazily, so that a file that is still open doesn't keep it from the folder's deletion. */
export function unmount(folder: string): void {
  spawnSync('umount', ['-l', folder])
}

interface BrokenSyncs {
  /** Lets them work again. */
  end(): Promise<void>
}

/**
 * From now on syncs by process `pid` fail with EIO, each thread's first `each` ones.
 * @returns why that can't be done, where it can't
 */
export async function breakSyncs(pid: number, each: number): Promise<BrokenSyncs | string> {
  const tool = findTool('strace')
  if (tool === undefined) return 'needs strace'
  const inject = `inject=fdatasync:error=EIO:when=1..${each}`
  const child = spawn(tool, ['-f', '-p', String(pid), '-e', 'trace=fdatasync', '-e', inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => (said += text))
  await attached(child, () => said)
  if (child.exitCode !== null) return `needs the right to trace another process: ${said.trim().split('\n')[0]}`
  return {
    end: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGINT')
      await ended
    },
  }
}

async function attached(child: ChildProcess, said: () => string): Promise<void> {
  for (let waited = 0; waited < 60_000 && child.exitCode === null; waited += 20) {
    if (/attached/.test(said())) return
    await sleep(20)
  }
}

/** The library that shows a process another time; undefined where it isn't installed. */
export function findFaketime(): string | undefined {
  const folders = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib']
  const candidates = folders.flatMap((folder) => {
    const below = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
    return [folder, ...below].map((path) => join(path, 'faketime', 'libfaketimeMT.so.1'))
  })
  return candidates.find((path) => existsSync(path))
}
