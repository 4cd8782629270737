/** Options and callbacks of a log writer. */
import type { Log } from '../../runtime/log.ts'
import type { Column, Hash64 } from '../../schemas/event/row.ts'
import type { DiskIo, LogFiles } from './files.ts'
import type { Segment } from './segment.ts'
import type { SegmentNumbers } from './segment-numbers.ts'

export interface LogWriterOptions {
  readonly columns: readonly Column[]
  /** No row takes more. */
  readonly rowBytesMax: number
  readonly files: LogFiles
  readonly numbers: Pick<SegmentNumbers, 'take'>
  readonly io: DiskIo
  /** Called for every sealed segment, in order. */
  readonly onSealed: (segment: Omit<Segment, 'folder'>) => void
  /** Called when the first row of a segment is appended, before any request of it is answered. */
  readonly onFirstRow: (number: number) => void
  /** Called for a number that was taken but won't be sealed: the log holds no row of it that counts. */
  readonly onUnused: (number: number) => void
  /** Called for each file once the next one's header tells its end. All of its segments, if it has any, are sealed then. */
  readonly onLeft: (file: number) => void
  /** A segment stays open beyond its age while this answers true: larger inserts while the loader is behind. */
  readonly isLoaderBusy: () => boolean
  /** Called for every claim of a failed group, so that a retry doesn't count as a duplicate. */
  readonly onClaimLost: (claim: Hash64, id: number) => void
  readonly observeSync: (seconds: number, rows: number) => void
  readonly log: Log
}
