/**
 * Tools of the system that break what a process stands on: its disk, its syncs, its clock. A test without its tool, or
 * without the right to use it, is left out: see left-out.ts.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { projectFile } from '../../runtime/paths.ts'
import { sleep } from '../../runtime/retry.ts'
import { fetchDebianPackages, isDebian, libraryPathOf } from '../../start/stores/debian-packages.ts'

function findTool(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

/** Makes `folder` a file system of its own of so many bytes, in memory. Returns why that can't be done, or nothing. */
export function mountSmallDisk(folder: string, bytes: number): string | undefined {
  mkdirSync(folder, { recursive: true })
  const { status, stderr, error } = spawnSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${bytes},mode=0755`, 'tmpfs', folder],
    {
      encoding: 'utf8',
    },
  )
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

const faketimeWithinMs = 120_000

/**
 * The library that shows a process another time: this machine's, else Debian's package, fetched once into the project's
 * cache.
 * @throws with one line that says why there is none
 */
export async function findFaketime(): Promise<string> {
  const root = projectFile('.cache/faketime/root')
  const find = () =>
    ['/', root]
      .flatMap((from) => libraryPathOf(from).split(':'))
      .map((folder) => join(folder, 'faketime/libfaketimeMT.so.1'))
      .find((path) => existsSync(path))
  const installed = find()
  if (installed !== undefined) return installed
  if (!isDebian()) throw new Error('needs libfaketime')
  await fetchDebianPackages({ root, packages: ['libfaketime'], withinMs: faketimeWithinMs })
  const fetched = find()
  if (fetched === undefined) throw new Error('needs libfaketime, which the package of the distribution lacks')
  return fetched
}
