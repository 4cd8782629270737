/**
 * Reads recordings for a click map, the newest first, until one of its bounds is reached. The process goes on answering others
 * between chunks. One load of a page is in memory at a time.
 */
import { setImmediate } from 'node:timers/promises'
import { type PageLoad, type PageLoadChunk, readPageLoads } from '../../../clickhouse/queries/page-loads.ts'
import type { Reader } from '../../../clickhouse/queries/reader.ts'
import { readPackedEvents } from '../../../clickhouse/queries/replays.ts'
import {
  clickMapBatchBytesMax,
  clickMapBytesMax,
  clickMapChunkBytesMin,
  clickMapClicksMax,
  clickMapLooksMax,
  clickMapPageViewsMax,
  clickMapSliceMs,
  clickMapViewBytesMax,
  clickMapViewChunksMax,
} from '../../../schemas/limits/click-map-limits.ts'
import type { Viewport } from '../../../schemas/resources/click-map.ts'
import { unpackEvents } from '../replays/unpack-events.ts'
import { type PageView, PageViewFollower } from './follow-page-view.ts'

export interface PageViewsRequest {
  readonly workspaceId: number
  /** Page views of replays that began from `start` to just before `end`. */
  readonly start: number
  readonly end: number
  readonly path: string
  readonly viewport: Viewport
  /** Reading ends then, with what there is. */
  readonly withinMs: number
}

export interface ReadPageView extends PageView {
  readonly session: number
  readonly visitor: string
  readonly startedAt: number
  /** Its end wasn't read. */
  readonly isCut: boolean
}

export interface ReadPageViews {
  /** Those with the asked viewport, the newest first. */
  readonly views: readonly ReadPageView[]
  /** All that were looked at. */
  readonly viewports: Readonly<Record<Viewport, number>>
  readonly hasMore: boolean
}

export async function readPageViews(ch: Reader, request: PageViewsRequest): Promise<ReadPageViews> {
  const until = performance.now() + request.withinMs
  const found = await readPageLoads(ch, {
    ...request,
    limit: clickMapLooksMax + 1,
    chunksMax: clickMapViewChunksMax,
    chunkBytesMin: clickMapChunkBytesMin,
    bytesMax: clickMapBytesMax,
  })
  const loads = found.slice(0, clickMapLooksMax).map(shortened)
  const views: ReadPageView[] = []
  const viewports = { desktop: 0, tablet: 0, mobile: 0 }
  const pause = makePauses()
  let bytes = 0
  let looked = 0
  let clicks = 0
  const isFull = () =>
    views.length === clickMapPageViewsMax || clicks >= clickMapClicksMax || (looked > 0 && performance.now() > until)
  while (looked < loads.length && !isFull()) {
    const batch = batchOf(loads, looked, clickMapBytesMax - bytes)
    if (batch.length === 0) break
    bytes += bytesOf(batch)
    const packed = await readPackedEvents(
      ch,
      request.workspaceId,
      [...new Set(batch.map(({ session }) => session))],
      batch.flatMap(({ chunks }) => chunks.map(({ id }) => id)),
    )
    for (const load of batch) {
      if (isFull()) break
      looked++
      const { viewport, ...view } = await follow(load, packed, request.viewport, pause)
      if (viewport === undefined) continue
      viewports[viewport]++
      if (viewport !== request.viewport) continue
      views.push({ ...view, viewport })
      clicks += view.clicks.length
    }
  }
  return { views, viewports, hasMore: looked < found.length }
}

/** Up to the bytes of one page view. */
function shortened(load: PageLoad): PageLoad {
  let sum = 0
  const chunks = load.chunks.filter(({ bytes }) => {
    sum += bytes
    return sum <= clickMapViewBytesMax
  })
  return { ...load, chunks, isCut: load.isCut || chunks.length < load.chunks.length }
}

/** The next loads that are read together; none where the next one exceeds `bytesLeft`. */
function batchOf(loads: readonly PageLoad[], from: number, bytesLeft: number): readonly PageLoad[] {
  const most = Math.min(bytesLeft, clickMapBatchBytesMax)
  let to = from
  for (let bytes = 0; to < loads.length; to++) {
    bytes += bytesOf(loads.slice(to, to + 1))
    if (bytes > (to === from ? bytesLeft : most)) break
  }
  return loads.slice(from, to)
}

function bytesOf(loads: readonly PageLoad[]): number {
  return loads.reduce((sum, { chunks }) => chunks.reduce((all, { bytes }) => all + bytes, sum), 0)
}

/** Ends at once where the page view turns out to have another viewport. */
async function follow(
  { chunks, isCut, session, visitor, startedAt }: PageLoad,
  packed: ReadonlyMap<PageLoadChunk['id'], string>,
  wanted: Viewport,
  pause: () => Promise<void>,
): Promise<ReadPageView> {
  const follower = new PageViewFollower()
  for (const { id, isOfPath } of chunks) {
    const events = packed.get(id)
    // It was sent again in the meantime: its repeat has another id.
    if (events === undefined) continue
    follower.take(await unpackEvents(events), id, isOfPath)
    await pause()
    const { viewport } = follower.view
    if (viewport !== undefined && viewport !== wanted) break
  }
  return { ...follower.view, session, visitor, startedAt, isCut }
}

/** A pause once work has gone on for so long. */
function makePauses(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < clickMapSliceMs) return
    await setImmediate()
    since = performance.now()
  }
}
