/** Small files that must survive a power loss. */
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces `file` so that after a crash it holds the old or the new content, whole. Not for two writers at once. */
export async function writeFileDurably(file: string, content: string | Buffer, mode = 0o600): Promise<void> {
  const temporary = `${file}.new`
  const handle = await open(temporary, 'w', mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
  await syncFolder(dirname(file))
}

/** Makes creations and renames in `folder` durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
