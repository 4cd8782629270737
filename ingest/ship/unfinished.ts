/** The manifests that an earlier process left with something to do. */
import type { Log } from '../../runtime/log.ts'
import type { StreamName } from '../../schemas/event/row.ts'
import type { Segment } from '../log/segment.ts'
import type { ManifestState, ShipJournal } from './journal.ts'
import type { SetAside } from './set-aside.ts'

export interface UnfinishedOptions {
  readonly stream: StreamName
  readonly journal: Pick<ShipJournal, 'unfinished'>
  readonly setAside: SetAside
  readonly log: Log
}

/** A manifest goes on without segments that aren't among `found` because their log file is gone, and that is told. */
export function unfinishedManifests(
  { stream, journal, setAside, log }: UnfinishedOptions,
  found: readonly Segment[],
): ManifestState[] {
  const numbers = new Set(found.map(({ number }) => number))
  const states = journal.unfinished()
  for (const state of states) {
    const { id, segments } = state.manifest
    const missing = segments.filter(({ number }) => !numbers.has(number))
    if (missing.length === 0) continue
    const note = Buffer.from(JSON.stringify(missing))
    const reason = 'segments of the log are not there any more'
    // A full disk is no reason to end: the log is told in any case.
    setAside(`${stream}-manifest-${id}-missing`, reason, note).catch((error) => {
      log.error({ err: error, manifest: id, missing }, reason)
    })
    state.manifest = { ...state.manifest, segments: segments.filter(({ number }) => numbers.has(number)) }
  }
  return states
}
