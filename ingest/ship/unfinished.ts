/** The manifests that an earlier process left with something to do. */
import type { StreamName } from '../../schemas/event/row.ts'
import type { Segment } from '../log/segment.ts'
import type { ManifestState, ShipJournal } from './journal.ts'
import type { SetAside } from './set-aside.ts'

/** A manifest goes on without segments that aren't among `found` because their log file is gone, and that is told. */
export function unfinishedManifests(
  { stream, journal, setAside }: { stream: StreamName; journal: ShipJournal; setAside: SetAside },
  found: readonly Segment[],
): ManifestState[] {
  const numbers = new Set(found.map(({ number }) => number))
  const states = journal.unfinished()
  for (const state of states) {
    const { id, segments } = state.manifest
    const missing = segments.filter(({ number }) => !numbers.has(number))
    if (missing.length === 0) continue
    const note = Buffer.from(JSON.stringify(missing))
    void setAside(`${stream}-manifest-${id}-missing`, 'segments of the log are not there any more', note)
    state.manifest = { ...state.manifest, segments: segments.filter(({ number }) => numbers.has(number)) }
  }
  return states
}
