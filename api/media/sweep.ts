/**
 * Deletes unreferenced files: drafts of killed processes, and files whose row was never committed. An upload of the same bytes
 * at that moment holds their lock, so that a file isn't deleted under a row.
 *
 * An empty or older Postgres is no reason to delete files. Files of workspaces that it doesn't know stay. So do files
 * older than their workspace: another Postgres has given its number again.
 */
import type { Postgres } from '../../postgres/client.ts'
import { findMediaBytes, listMediaOwners, lockMediaBytes } from '../../postgres/tables/posts/media.ts'
import type { FileStorage } from '../../runtime/files/file-storage.ts'
import { inPortions } from '../../runtime/lists.ts'
import type { Log } from '../../runtime/log.ts'
import {
  mediaDraftAgeMs,
  mediaOrphanAgeMs,
  mediaSweepFilesEach,
  mediaSweepMs,
} from '../../schemas/limits/media-limits.ts'

export interface Swept {
  readonly drafts: number
  readonly files: number
}

/** @param orphanAgeMs how long a file without a row must have been there */
export async function sweepMedia(
  storage: FileStorage,
  pg: Pick<Postgres, 'query' | 'transaction'>,
  orphanAgeMs = mediaOrphanAgeMs,
  stopping?: AbortSignal,
): Promise<Swept> {
  const drafts = await storage.sweepDrafts(mediaDraftAgeMs)
  let files = 0
  const madeAt = new Map((await listMediaOwners(pg)).map((owner) => [owner.id, owner.madeAt]))
  for (const workspaceId of await storage.owners()) {
    const since = madeAt.get(workspaceId)
    if (since === undefined || stopping?.aborted) continue
    const older = await storage.olderFiles(workspaceId, orphanAgeMs, since, stopping)
    for (const some of inPortions(older, mediaSweepFilesEach)) {
      if (stopping?.aborted) return { drafts, files }
      const known = await findMediaBytes(pg, workspaceId, some)
      for (const orphan of some.filter((file) => !known.some((other) => other.equals(file)))) {
        if (stopping?.aborted) return { drafts, files }
        if (await removeUnreferenced(storage, pg, workspaceId, orphan)) files += 1
      }
    }
  }
  return { drafts, files }
}

/** Deletes a file unless some asset is of it. @returns whether it was deleted */
export function removeUnreferenced(
  storage: FileStorage,
  pg: Pick<Postgres, 'transaction'>,
  workspaceId: number,
  sha256: Buffer,
): Promise<boolean> {
  return pg.transaction(async (tx) => {
    await lockMediaBytes(tx, workspaceId, sha256)
    if ((await findMediaBytes(tx, workspaceId, [sha256])).length > 0) return false
    await storage.remove(workspaceId, sha256)
    return true
  })
}

/** Sweeps at once and then every so often, until it is stopped. */
export function startMediaSweep(
  storage: FileStorage,
  pg: Pick<Postgres, 'query' | 'transaction'>,
  log: Log,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let running = Promise.resolve()
  const sweep = () => {
    running = sweepMedia(storage, pg, mediaOrphanAgeMs, stopping.signal).then(
      (swept) => {
        if (swept.drafts + swept.files > 0) log.info(swept, 'deleted media that nothing refers to')
      },
      // It is tried again the next time.
      (error) => log.warn({ err: error }, 'media could not be swept'),
    )
  }
  sweep()
  const timer = setInterval(sweep, mediaSweepMs)
  return {
    stop: () => {
      clearInterval(timer)
      stopping.abort()
      return running
    },
  }
}
