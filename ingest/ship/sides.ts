/** What of a manifest goes to Postgres: the side payloads of its rows. */
import type { SidePayload } from '../outcome.ts'
import { type Batch, forEachRow } from './batch.ts'
import { isKept } from './load.ts'
import type { Manifest } from './manifest.ts'

/** By event id, those of rows that were dropped left out. */
export function sidesOf(manifest: Manifest, batch: Batch): SidePayload[] {
  const kept = isKept(manifest)
  const ids = new Set<number>()
  forEachRow(batch, (row) => {
    if (row.group.sideBytes > 0 && kept(row)) ids.add(row.id)
  })
  const sides: SidePayload[] = []
  for (const group of batch.groups) {
    if (group.sideBytes === 0) continue
    for (const line of group.side.toString('utf8').split('\n')) {
      if (line === '') continue
      const side = JSON.parse(line) as SidePayload
      if (ids.has(side.event_id)) sides.push(side)
    }
  }
  return sides
}
