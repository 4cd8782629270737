/** Builds a manifest: claims its rows, and drops those that have an earlier claim. */
import type { Log } from '../../runtime/log.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { type Batch, forEachRow, hasClaim, keptBy, workspaceHourOf } from './batch.ts'
import { type Claims, claimBytes } from './claim.ts'
import { type Manifest, manifestId, type Part } from './manifest.ts'

export interface FreezeOptions {
  readonly claims: Claims
  readonly claimWaitMs: number
  readonly log: Log
  readonly count: (what: 'duplicate' | 'unclaimed', rows: number) => void
}

/**
 * Claims the rows' client event ids and answers the manifest. While Redis is away the rows without an id go ahead. The
 * others wait for at most `claimWaitMs` and then rest on the local window alone.
 * @param isRemainder the rows without an id are in a manifest of their own already
 * @param ageMs since the rows were sealed
 * @returns undefined when nothing can be frozen now
 */
export async function buildManifest(
  options: FreezeOptions,
  batch: Batch,
  isRemainder: boolean,
  ageMs: number,
): Promise<Manifest | undefined> {
  const part: Part = isRemainder ? 'claimed' : 'all'
  const { packed, rows } = packClaims(batch)
  if (rows.length === 0) return manifestOf(batch, part, {})
  try {
    const lost = await options.claims.claim(packed)
    const dropped: Record<string, number[]> = {}
    for (const position of lost) {
      const [segment, index] = rows[position]!
      dropped[segment] ??= []
      dropped[segment].push(index)
    }
    if (lost.length > 0) options.count('duplicate', lost.length)
    return manifestOf(batch, part, dropped)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    if (ageMs >= options.claimWaitMs) {
      options.log.warn(
        { rows: rows.length },
        'shipping on the local dedup window alone: Redis has been away for too long',
      )
      options.count('unclaimed', rows.length)
      return manifestOf(batch, part, {})
    }
    const hasOthers = batch.segments.reduce((sum, segment) => sum + segment.rows, 0) > rows.length
    return !isRemainder && hasOthers ? manifestOf(batch, 'unclaimed', {}) : undefined
  }
}

/** The claims of a batch, packed for Redis, and which rows they are of. */
function packClaims(batch: Batch): { packed: Buffer; rows: [segment: number, index: number][] } {
  const rows: [number, number][] = []
  let packed = Buffer.allocUnsafe(1024 * claimBytes)
  forEachRow(batch, (row) => {
    if (!hasClaim(row)) return
    const at = rows.length * claimBytes
    if (at === packed.length) packed = Buffer.concat([packed, Buffer.allocUnsafe(packed.length)])
    packed.writeUInt32LE(row.claim.lo, at)
    packed.writeUInt32LE(row.claim.hi, at + 4)
    packed.writeUInt32LE(row.id >>> 0, at + 8)
    packed.writeUInt32LE(Math.floor(row.id / 2 ** 32), at + 12)
    rows.push([row.segment, row.index])
  })
  return { packed: packed.subarray(0, rows.length * claimBytes), rows }
}

function manifestOf(batch: Batch, part: Part, dropped: Record<string, number[]>): Manifest {
  const isKept = keptBy({ part, dropped })
  const keys = new Map<number, [number, number]>()
  let rows = 0
  let hasSides = false
  forEachRow(batch, (row) => {
    if (!isKept(row)) return
    rows++
    if (row.group.sideBytes > 0) hasSides = true
    const [workspace, hour] = workspaceHourOf(row)
    // Both fit into 53 bits together: an hour since 1970 has less than 21.
    const key = workspace * 2 ** 21 + hour
    if (!keys.has(key)) keys.set(key, [workspace, hour])
  })
  const id = manifestId(batch.segments[0]!.number, part)
  return { id, part, segments: batch.segments, dropped, rows, hasSides, keys: [...keys.values()] }
}
