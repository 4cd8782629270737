/** DATA_DIR: one start at a time, and the secret that is made and kept in it. */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeFileDurably } from '../runtime/files/durable-file.ts'
import { FolderInUse, lockFolder } from '../runtime/folder-lock.mjs'
import { readDevFile } from './dev-file.ts'

/** The reason why `npm start` can't start, in a line for its user. */
export class StartRefused extends Error {
  override name = 'StartRefused'
}

export interface DataFolder {
  readonly path: string
  release(): void
}

/** By these a folder is known as one of ours: what a start makes in it, or a service that runs alone. */
const ownNames = ['lock', 'secret.key', 'postgres', 'ingest', 'media', 'bot-addresses']

/**
 * Makes the folder and takes its lock.
 * @throws StartRefused when another start has it, or it can't be used
 */
export function takeDataFolder(dataDir: string): DataFolder {
  const path = resolve(dataDir)
  try {
    mkdirSync(path, { recursive: true })
    const mode = statSync(path).mode & 0o7777
    // Changes nothing: whoever doesn't own the folder is told so first.
    chmodSync(path, mode)
    refuseShared(path, mode)
    // Root's stores run as other users, who must be able to pass through.
    chmodSync(path, process.getuid?.() === 0 ? 0o711 : 0o700)
    return { path, release: lockFolder(path).release }
  } catch (error) {
    if (error instanceof StartRefused) throw error
    if (error instanceof FolderInUse) throw new StartRefused(`DATA_DIR ${error.message}${servedFrom(path)}`)
    const why = error instanceof Error ? error.message : error
    throw new StartRefused(`DATA_DIR ${path} can't be used: ${why}${remedyOf(error)}`)
  }
}

/**
 * A folder that everybody may write to, such as `/tmp`, would lose its mode and lock the others out. One that is empty, or has files of ours, is
 * no such folder: orchestrators make volumes that all may write to. A disk of its own has `lost+found`.
 */
function refuseShared(path: string, mode: number): void {
  const names = readdirSync(path).filter((name) => !name.startsWith('.') && name !== 'lost+found')
  const isOpen = (mode & 0o002) !== 0
  if (isOpen && names.length > 0 && !ownNames.some((name) => names.includes(name)))
    throw new StartRefused(`DATA_DIR ${path} is for everybody and has other files: name a folder for this alone`)
}

/** As for a folder of the machine that a container's user is given. */
function remedyOf(error: unknown): string {
  if (!['EPERM', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
  return `: the folder and all in it must belong to the user who starts this, whose number is ${process.getuid?.()}`
}

/** Where the start that has the folder serves; empty while it is still starting. */
function servedFrom(path: string): string {
  const { base_url: baseUrl, pids } = readDevFile(path)
  const isServing = Object.values(pids ?? {}).some((pid) => pid !== null)
  return baseUrl !== undefined && isServing ? `, which serves ${new URL('/', baseUrl)}` : ''
}

/** The secret of this installation, which its first start made. */
export function keptSecretKey(folder: DataFolder): string | undefined {
  const file = join(folder.path, 'secret.key')
  return (existsSync(file) && readFileSync(file, 'utf8').trim()) || undefined
}

export async function makeSecretKey(folder: DataFolder): Promise<string> {
  const made = randomBytes(32).toString('hex')
  await writeFileDurably(join(folder.path, 'secret.key'), `${made}\n`)
  return made
}
