/**
 * Permanent files, addressed by owner and SHA-256: equal bytes of one owner are one file.
 *
 *   drafts/<space>~<pid>~<its start>~<random>   an upload in progress, not yet visible
 *   <owner>/<first two digits>/<SHA-256 in hex>
 *
 * `keep` syncs the draft, renames it to its place and syncs the folder. Only then may rows that refer to it be committed.
 * A kill before the rename leaves a draft. The next start on this machine or in this container deletes it, or another one
 * once it hasn't been written for long. A kill between rename and commit leaves an unreferenced file. An upload of the same bytes replaces
 * it, or a sweep deletes it. Held by test/integration/media-upload.test.ts and test/crash/kill-api.test.ts.
 */
import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from './durable-file.ts'
import { processIdentity, processSpace } from './process-identity.ts'

/** The disk has less free than others need. */
export class NoRoom extends Error {
  override name = 'NoRoom'
}

export interface FileStorage {
  /** @throws NoRoom, or an error of the file system: no right */
  begin(): Promise<Draft>
  find(owner: number, sha256: Buffer): Promise<StoredFile | undefined>
  remove(owner: number, sha256: Buffer): Promise<void>
  /** Deletes the drafts of processes that are gone. @returns how many */
  sweepDrafts(untouchedForMs: number): Promise<number>
  /** The owners, and of one the files that were put there since `sinceMs`, but not in the last `ageMs`. */
  owners(): Promise<number[]>
  olderFiles(owner: number, ageMs: number, sinceMs: number, stopping?: AbortSignal): Promise<Buffer[]>
}

interface StoredFile {
  readonly bytes: number
  open(): Promise<FileHandle>
}

/** A file that is being written. */
export interface Draft {
  /** @throws NoRoom, or an error of the file system */
  write(chunk: Buffer): Promise<void>
  /** Syncs the written bytes. */
  finish(): Promise<{ bytes: number; sha256: Buffer }>
  /** Puts the finished draft in its place, over one of the same bytes. */
  keep(owner: number): Promise<void>
  /** Deletes it, unless it was kept. */
  discard(): Promise<void>
}

const draftsFolder = 'drafts'
const separator = '~'
/** Free space is checked again after this number of bytes. */
const roomCheckBytes = 8 * 1024 * 1024

/** @param diskFreeBytesMin bytes that drafts leave free on the disk, for the other files on it */
export function makeFileStorage(root: string, diskFreeBytesMin = 0): FileStorage {
  const drafts = join(root, draftsFolder)
  const own = [processSpace(), ...(processIdentity(process.pid) ?? String(process.pid)).split(' ')].join(separator)
  const folderOf = (owner: number, hex: string) => join(root, String(owner), hex.slice(0, 2))
  const placeOf = (owner: number, sha256: Buffer) => {
    const hex = sha256.toString('hex')
    return join(folderOf(owner, hex), hex)
  }

  async function requireRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(drafts)
    if (bavail * bsize < diskFreeBytesMin) throw new NoRoom('too little disk space is free')
  }

  return {
    async begin() {
      await mkdir(drafts, { recursive: true, mode: 0o700 })
      await requireRoom()
      const path = join(drafts, [own, randomBytes(12).toString('hex')].join(separator))
      const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600)
      return makeDraft(path, file, requireRoom, async (owner, sha256) => {
        const hex = sha256.toString('hex')
        const folder = folderOf(owner, hex)
        if ((await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined) {
          await syncFolder(join(root, String(owner)))
          await syncFolder(root)
        }
        await rename(path, join(folder, hex))
        await syncFolder(folder)
      })
    },

    async find(owner, sha256) {
      const path = placeOf(owner, sha256)
      const found = await orNone(stat(path))
      return found && { bytes: found.size, open: () => open(path, 'r') }
    },

    remove: (owner, sha256) => rm(placeOf(owner, sha256), { force: true }),

    async sweepDrafts(untouchedForMs) {
      let swept = 0
      for (const name of (await orNone(readdir(drafts))) ?? []) {
        const path = join(drafts, name)
        const found = await orNone(stat(path))
        if (found === undefined) continue
        if (!isAbandoned(name) && Date.now() - found.mtimeMs < untouchedForMs) continue
        await rm(path, { force: true })
        swept += 1
      }
      return swept
    },

    async owners() {
      const names = (await orNone(readdir(root))) ?? []
      return names.filter((name) => /^\d+$/.test(name)).map(Number)
    },

    async olderFiles(owner, ageMs, sinceMs, stopping) {
      const found: Buffer[] = []
      const folder = join(root, String(owner))
      for (const part of (await orNone(readdir(folder))) ?? []) {
        if (stopping?.aborted) break
        for (const name of (await orNone(readdir(join(folder, part)))) ?? []) {
          const stats = /^[0-9a-f]{64}$/.test(name) ? await orNone(stat(join(folder, part, name))) : undefined
          if (stats === undefined || stats.ctimeMs < sinceMs) continue
          if (Date.now() - stats.ctimeMs >= ageMs) found.push(Buffer.from(name, 'hex'))
        }
      }
      return found
    },
  }
}

/** Whether a killed process of this machine or container left the file. For others' files only the age tells. */
function isAbandoned(name: string): boolean {
  const [space, pid, startedAt] = name.split(separator)
  return space === processSpace() && processIdentity(Number(pid)) !== `${pid} ${startedAt}`
}

function makeDraft(
  path: string,
  file: FileHandle,
  requireRoom: () => Promise<void>,
  place: (owner: number, sha256: Buffer) => Promise<void>,
): Draft {
  const hash = createHash('sha256')
  let bytes = 0
  let sha256: Buffer | undefined
  let isOpen = true
  let isKept = false

  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await file.close()
  }
  return {
    async write(chunk) {
      hash.update(chunk)
      for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten
      const before = bytes
      bytes += chunk.length
      if (Math.floor(before / roomCheckBytes) !== Math.floor(bytes / roomCheckBytes)) await requireRoom()
    },
    async finish() {
      await file.sync()
      await close()
      sha256 = hash.digest()
      return { bytes, sha256 }
    },
    async keep(owner) {
      if (sha256 === undefined) throw new Error('a draft is kept before it is finished')
      if (!isKept) await place(owner, sha256)
      isKept = true
    },
    async discard() {
      await close()
      if (!isKept) await rm(path, { force: true })
    },
  }
}

/** Undefined for a file that isn't there. */
async function orNone<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
