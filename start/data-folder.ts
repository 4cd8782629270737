/** DATA_DIR: one start at a time, and the secret that is made and kept in it. */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { processIdentity } from './process-identity.ts'

/** What keeps `npm start` from starting, in a line for its user. */
export class StartRefused extends Error {
  override name = 'StartRefused'
}

export interface DataFolder {
  readonly path: string
  release(): void
}

/**
 * Makes the folder and takes its lock, which a killed holder leaves behind without effect.
 * @throws StartRefused when another start has it
 */
export function takeDataFolder(dataDir: string): DataFolder {
  const path = resolve(dataDir)
  try {
    // Root's stores run as other users, who must be able to pass through.
    mkdirSync(path, { recursive: true })
    chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700)
  } catch (error) {
    throw new StartRefused(`DATA_DIR ${path} can't be used: ${(error as Error).message}`)
  }
  const lock = join(path, 'lock')
  const own = processIdentity(process.pid) ?? String(process.pid)
  // Written beside its place and linked into it, so that nobody reads an empty lock.
  const unlinked = join(path, `lock.${process.pid}.new`)
  writeFileSync(unlinked, own, { mode: 0o600 })
  try {
    while (!tryLink(unlinked, lock)) removeStale(lock, path)
  } finally {
    rmSync(unlinked, { force: true })
  }
  return { path, release: () => rmSync(lock, { force: true }) }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that is gone. Renamed first: of two starts that find it, one gets it. */
function removeStale(lock: string, path: string): void {
  const holder = read(lock)
  const pid = Number(holder?.split(' ')[0])
  if (holder !== undefined && processIdentity(pid) === holder) {
    throw new StartRefused(`DATA_DIR ${path} is in use by another start (process ${pid})`)
  }
  const aside = `${lock}.${process.pid}`
  try {
    renameSync(lock, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const taken = read(aside)
  rmSync(aside, { force: true })
  if (taken !== holder) throw new StartRefused(`DATA_DIR ${path} is being taken by another start`)
}

function read(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

/** The secret of this installation: made at the first start and the same ever after. */
export function keptSecretKey(folder: DataFolder): string {
  const file = join(folder.path, 'secret.key')
  const kept = read(file)?.trim()
  if (kept) return kept
  const made = randomBytes(32).toString('hex')
  const unfinished = `${file}.new`
  writeFileSync(unfinished, `${made}\n`, { mode: 0o600, flush: true })
  renameSync(unfinished, file)
  return made
}
