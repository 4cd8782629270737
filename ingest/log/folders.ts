/**
 * The folders of a node's event log. Number 0 is the node's own, as one thread writes it; number n is that of worker n.
 * Each has the files of all streams. Folders of an earlier start are read and shipped as well, however many workers
 * this start has.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StreamName } from '../../schemas/event/row.ts'

const workerFolder = /^worker-([1-9]\d*)$/

/** The folder of one writer. */
export function writerFolder(node: string, folder: number): string {
  return folder === 0 ? node : join(node, `worker-${folder}`)
}

/** The folder of one stream's files in a writer's. */
export function streamFolder(node: string, folder: number, stream: StreamName): string {
  return join(writerFolder(node, folder), stream)
}

/** The folders of workers that there are, in order. */
export async function workerFolders(node: string): Promise<number[]> {
  const names = await readdir(node)
  return names
    .flatMap((name) => workerFolder.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}
