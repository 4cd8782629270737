/** Looks for old files of one log: rows of erased people leave the log with them. A busy node's are full long before. */
import type { Log } from '../../runtime/log.ts'
import { logFileAgeCheckMs } from '../../schemas/limits/log-limits.ts'
import type { LogFiles } from './files.ts'

export interface OldFiles {
  /** Waits for a look that goes on. */
  stop(): Promise<void>
}

/** @param leave leaves the file that is written where it is old; there is a spare one then */
export function leaveOldFiles(files: LogFiles, log: Log, leave: () => Promise<void>): OldFiles {
  let looking = Promise.resolve()

  async function look(): Promise<void> {
    try {
      await files.renewSpares()
    } catch (error) {
      // The writer goes on in its file, as there is no other one.
      log.warn({ err: error }, 'no log file could be prepared')
      return
    }
    await leave()
  }

  const timer = setInterval(() => {
    looking = looking.then(look)
  }, logFileAgeCheckMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}
