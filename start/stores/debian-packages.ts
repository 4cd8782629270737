/**
 * Programs without an npm package, from the packages of Debian or Ubuntu. They are fetched and checked by apt, with folders
 * of its own, and unpacked into the project's cache. So this needs no root and doesn't change the system.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export interface DebianFetch {
  /** Where the packages' own root is to lie. Its parent is for files that are only needed while fetching. */
  readonly root: string
  readonly packages: readonly string[]
  /** Fetches their dependencies too, as far as the system lacks them. */
  readonly withDependencies?: boolean
  /** All of it together. */
  readonly withinMs: number
}

export function isDebian(): boolean {
  return existsSync('/etc/debian_version')
}

/** @throws with one line that names the failure */
export async function fetchDebianPackages({ root, packages, ...options }: DebianFetch): Promise<void> {
  const signal = AbortSignal.timeout(options.withinMs)
  const work = join(root, '..', `fetch-${process.pid}`)
  const lists = join(work, 'lists')
  const unpacked = join(work, 'root')
  for (const folder of [join(lists, 'partial'), join(work, 'cache/archives/partial'), unpacked])
    mkdirSync(folder, { recursive: true })
  const apt = (...args: string[]) => run('apt-get', [...aptOptions(work, lists), ...args], work, signal)
  try {
    await apt('update')
    const names = options.withDependencies ? await lacking(apt, packages) : packages
    await apt('download', ...names)
    for (const name of readdirSync(work).filter((name) => name.endsWith('.deb')))
      await run('dpkg', ['-x', join(work, name), unpacked], work, signal)
    // Renamed into place: a fetch that is killed here, or another beside this one, leaves no half of it.
    if (!existsSync(root)) renameSync(unpacked, root)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Library path for a program from such a root: packages have some libraries in folders of their own. */
export function libraryPathOf(root: string): string {
  const foldersIn = (folder: string) =>
    existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ name }) => join(folder, name))
      : []
  const tops = ['usr/lib', 'lib'].map((name) => join(root, name))
  const machines = tops.flatMap(foldersIn).filter((folder) => folder.endsWith('-linux-gnu'))
  return [...machines, ...machines.flatMap(foldersIn), ...tops].join(':')
}

function aptOptions(work: string, lists: string): string[] {
  return [
    '-o',
    `Dir::State::lists=${lists}`,
    '-o',
    `Dir::Cache=${join(work, 'cache')}`,
    '-o',
    'Debug::NoLocking=1',
    '-o',
    'APT::Sandbox::User=',
    '-o',
    'Acquire::Retries=2',
  ]
}

/** The packages that an installation would fetch: apt lists them as `'address' name_version_machine.deb size hash`. */
async function lacking(apt: (...args: string[]) => Promise<string>, packages: readonly string[]): Promise<string[]> {
  const listed = await apt('install', '--yes', '--no-install-recommends', '--print-uris', ...packages)
  const names = [...listed.matchAll(/^'[^']+' ([^_ ]+)_/gm)].map(([, name]) => name!)
  if (names.length === 0) throw new Error(`apt-get has nothing to fetch for ${packages.join(', ')}`)
  return names
}

/** @returns the end of its standard output */
function run(command: string, args: string[], cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], signal })
    let output = ''
    let complaint = ''
    child.stdout.on('data', (data) => (output = (output + data).slice(-outputLengthMax)))
    child.stderr.on('data', (data) => (complaint = (complaint + data).slice(-complaintLengthMax)))
    child.on('error', (error) => reject(signal.aborted ? new Error(`${command} took too long`) : error))
    child.on('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`${command} failed: ${complaint.trim().split('\n').at(-1)}`))
    })
  })
}

/** A list of some hundreds of packages has 100 KB. */
const outputLengthMax = 1_000_000
const complaintLengthMax = 500
