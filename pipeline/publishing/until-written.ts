/** Writes an answer of a platform that can't be asked for again. */
import type { Sleep } from '../../runtime/retry.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'

/**
 * Some platforms can't be asked what became of a post, or take a refresh token once. So all that they told is written as
 * soon as Postgres is back. The claim may have ended meanwhile: if another process has taken it, nothing is written.
 */
export async function untilWritten<Written>(
  write: () => Promise<Written>,
  sleep: Sleep,
  stopping: AbortSignal,
): Promise<Written> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || stopping.aborted) throw error
      await sleep(retryMs, stopping)
    }
  }
}

const retryMs = 500
