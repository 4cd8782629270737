/** The part of a manifest that goes to Postgres: the side payloads of its rows. */
import { isRefusal } from '../../postgres/client.ts'
import type { StreamName } from '../../schemas/event/row.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import { type Batch, forEachRow, keptBy } from './batch.ts'
import type { Manifest } from './manifest.ts'
import type { SetAside } from './set-aside.ts'

/** By event id, those of rows that were dropped left out. */
export function sidesOf(manifest: Manifest, batch: Batch): SidePayload[] {
  const isKept = keptBy(manifest)
  const ids = new Set<number>()
  forEachRow(batch, (row) => {
    if (row.group.sideBytes > 0 && isKept(row)) ids.add(row.id)
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

export interface CopyOptions {
  readonly stream: StreamName
  readonly copySides: (manifestId: number, sides: SidePayload[]) => Promise<void>
  readonly setAside: SetAside
}

/** Copies all at once, halving where Postgres refuses, down to the single payloads that are set aside. */
export async function copyEach(options: CopyOptions, manifestId: number, sides: SidePayload[]): Promise<void> {
  try {
    await options.copySides(manifestId, sides)
  } catch (error) {
    if (sides.length === 0 || !isRefusal(error)) throw error
    if (sides.length > 1) {
      const half = Math.ceil(sides.length / 2)
      await copyEach(options, manifestId, sides.slice(0, half))
      await copyEach(options, manifestId, sides.slice(half))
      return
    }
    const [side] = sides
    const bytes = Buffer.from(JSON.stringify(side))
    await options.setAside(`${options.stream}-side-${side!.event_id}`, (error as Error).message, bytes)
    await options.copySides(manifestId, [])
  }
}
