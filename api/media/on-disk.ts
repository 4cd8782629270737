/** The media storage as one of the stores that a request needs. */
import { NoRoom } from '../../runtime/files/file-storage.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'

/** Whatever the disk can't do now is a store that is away, as others may be. @throws StoreUnavailable */
export async function onDisk<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof NoRoom) && (error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new StoreUnavailable('media', (error as Error).message, { cause: error })
  }
}
