/**
 * A recorded page as it was first seen, with the clicks of all visitors on it. The page is drawn by the player, in its frame
 * without an origin. It keeps the size of its window: scrolling here scrolls it there, and the canvas over it follows.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import { clickMapHeightMax, clickMapPointsMax } from '../../../schemas/limits/click-map-limits.ts'
import type { ClickMap } from '../../../schemas/resources/click-map.ts'
import type { ReplayPage } from '../../../schemas/resources/replay.ts'
import type { PlayerMessage } from '../../player/protocol.ts'
import { Failure } from '../parts/failure.tsx'
import { number } from '../parts/format.ts'
import { playerLate, scaleOf, usePlayerPort } from '../replays/player-port.ts'
import { useAnswer } from '../requests/query.ts'
import { drawClicks } from './draw-clicks.ts'

const seldomMs = 3_600_000
const fullSnapshot = 2

export interface MapProps {
  readonly map: ClickMap
  readonly page: NonNullable<ClickMap['page']>
  readonly hasBands: boolean
  /** The index of the element whose clicks stand out, and of the one that they are scrolled to. */
  readonly marked: number | undefined
  readonly chosen: number | undefined
}

export function MappedPage(props: MapProps) {
  const { page } = props
  // Ids begin at 1: there is nothing before the first.
  const after = page.chunk_id > 1 ? `&after_id=${page.chunk_id - 1}` : ''
  const question = `/replays/${page.replay_id}?limit=1${after}`
  const { answer, failure, isStale } = useAnswer<ReplayPage>(question, { againMs: seldomMs })
  if ((answer === undefined || isStale) && !failure?.isMissing) {
    return failure ? <Failure {...failure} /> : <p class="empty awaited">Reading the page…</p>
  }
  const chunk = answer?.chunks.find(({ id }) => id === page.chunk_id)
  const snapshot = chunk?.events.find(({ type }) => type === fullSnapshot)
  if (snapshot === undefined) return <p class="empty">The recording of this page is gone. The list has its elements.</p>
  return <Stage key={page.chunk_id} {...props} snapshot={snapshot} />
}

function Stage({
  map,
  page,
  hasBands,
  marked,
  chosen,
  snapshot,
}: MapProps & { snapshot: ReplayPage['chunks'][number]['events'][number] }) {
  const stage = useRef<HTMLElement>(null)
  const frame = useRef<HTMLIFrameElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [pageHeight, setPageHeight] = useState(0)
  const [scale, setScale] = useState(1)
  const [failure, setFailure] = useState('')
  const { say, connect, isLate } = usePlayerPort(frame, hear)
  const height = Math.min(Math.max(pageHeight, page.height), clickMapHeightMax)

  function hear(message: PlayerMessage): void {
    if (message.type === 'ready') {
      const { width, height } = page
      const timestamp = Number(snapshot['timestamp'])
      const meta = { type: 4, timestamp, data: { href: 'about:blank', width, height } }
      say({ type: 'load', events: [meta, snapshot as unknown as typeof meta] })
    } else if (message.type === 'loaded') say({ type: 'pause', at: 0 })
    else if (message.type === 'failed') setFailure('This page can’t be drawn. The list has its elements.')
    else if (message.type === 'page') {
      setPageHeight(Number(message.height) || 0)
      scroll()
    }
  }

  const topOf = () => stage.current!.scrollTop / scale
  const draw = () => {
    if (canvas.current !== null) drawClicks(canvas.current, { map, page, hasBands, marked, scale, top: topOf() })
  }
  const scroll = () => {
    say({ type: 'scroll', top: topOf() })
    draw()
  }
  useEffect(() => {
    const place = stage.current!
    const measure = () => {
      const { clientWidth } = place
      // It has none while it is hidden, and nothing can be drawn at no scale.
      if (clientWidth > 0) setScale(scaleOf(page, clientWidth))
    }
    const watched = new ResizeObserver(measure)
    watched.observe(place)
    return () => watched.disconnect()
  }, [page])
  useEffect(draw)
  // A list that stands below the page leads back to it, and to the uppermost of the clicks where none is in sight.
  useEffect(() => {
    const places = map.points.filter(({ element }) => element === chosen).map(({ y }) => y)
    if (chosen === undefined || places.length === 0) return
    const [top, { current }] = [topOf(), stage]
    if (!places.some((y) => y >= top && y <= top + page.height)) {
      current!.scrollTop = (Math.min(...places) - page.height / 2) * scale
    }
    current!.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const undrawn = map.clicks - map.points.filter(({ y }) => y <= height).length
  const size = { width: `${page.width}px`, height: `${page.height}px`, transform: `scale(${scale})` }
  return (
    <>
      {failure !== '' && <p class="empty">{failure}</p>}
      {isLate && (
        <p class="failure" role="alert">
          {playerLate}
        </p>
      )}
      <section
        class="stage mapped"
        ref={stage}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keys too
        tabIndex={0}
        aria-label="Clicks on the page"
        onScroll={scroll}
        style={{ height: `${page.height * scale}px` }}
      >
        <div style={{ height: `${height * scale}px` }}>
          <div class="seen" style={{ height: `${page.height * scale}px` }}>
            <iframe
              ref={frame}
              sandbox="allow-scripts"
              src="/dashboard/player"
              title="The page as it was recorded"
              tabIndex={-1}
              style={size}
              onLoad={connect}
            />
            <canvas ref={canvas} />
          </div>
        </div>
      </section>
      {pageHeight > 0 && undrawn > 0 && (
        <p class="note">
          {number(undrawn)} clicks aren’t drawn: they are outside this page, or beyond the first{' '}
          {number(clickMapPointsMax)}.
        </p>
      )}
    </>
  )
}
