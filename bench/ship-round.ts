/** One round of `ship`: the same segments, under new ids, into one of the two tables. */
import { fold } from '../pipeline/fold/fold.ts'
import { advanceMark, leaseSegments } from '../postgres/tables/operation/segment-leases.ts'
import { segmentLeaseSize } from '../schemas/limits/log-limits.ts'
import { insertSegments, type Segment, stampIds } from './data/segments.ts'
import type { Installation } from './installation.ts'
import type { Cores } from './measure/cores.ts'
import { type CpuSnapshot, cpuSeconds, readCpu, secondsBetween } from './measure/cpu.ts'
import { disturbanceOf } from './measure/disturbance.ts'

export interface SegmentsOutcome {
  /** Until the last row was where it should be. */
  readonly seconds: number
  readonly insertSeconds: number
  /** CPU time of the stores, and of the fold where there is one: it runs in this process. */
  readonly cpuSeconds: number
  readonly disturbedBy: string
  /** That are where they should be. */
  readonly rows: number
}

export async function shipBare(
  installation: Installation,
  segments: readonly Segment[],
  cores: Cores | string,
): Promise<SegmentsOutcome> {
  const lease = await leaseSegments(installation.pg, segmentLeaseSize)
  stampIds(segments, lease)
  const from = readCpu()
  await insertSegments(installation.ch, 'events_bare', segments, `bare-${lease}`)
  const to = readCpu()
  return { ...measured(installation, from, to, cores), insertSeconds: secondsBetween(from, to), rows: rowsOf(segments) }
}

export async function shipFolded(
  installation: Installation,
  segments: readonly Segment[],
  cores: Cores | string,
): Promise<SegmentsOutcome> {
  const { pg, ch } = installation
  const lease = await leaseSegments(pg, segmentLeaseSize)
  const lastId = stampIds(segments, lease)
  const from = readCpu()
  await insertSegments(ch, 'events', segments, `ship-${lease}`)
  const inserted = readCpu()
  await advanceMark(pg, lease, lastId)
  while (!(await fold({ pg, ch, ensureLease: async () => {} })).isAllTaken);
  const to = readCpu()
  return {
    ...measured(installation, from, to, cores),
    insertSeconds: secondsBetween(from, inserted),
    rows: rowsOf(segments),
  }
}

function rowsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.rows.length, 0)
}

function measured(
  { pids }: Installation,
  from: CpuSnapshot,
  to: CpuSnapshot,
  cores: Cores | string,
): Pick<SegmentsOutcome, 'seconds' | 'cpuSeconds' | 'disturbedBy'> {
  const { disturbedBy } = disturbanceOf(from, to, { atServer: pids, cores })
  const ofStores = cpuSeconds(from, to, pids)
  return { seconds: secondsBetween(from, to), cpuSeconds: ofStores + to.own - from.own, disturbedBy }
}
