/** Draws the clicks, and how far visitors scrolled, over the part of a page that is in sight. */
import type { ClickMap } from '../../../schemas/resources/click-map.ts'
import { percent } from '../parts/format.ts'

interface Drawn {
  readonly map: ClickMap
  readonly page: NonNullable<ClickMap['page']>
  readonly hasBands: boolean
  /** The element whose clicks stand out, by its index; undefined: all are alike. */
  readonly marked: number | undefined
  /** Pixels of the screen for one of the page. */
  readonly scale: number
  /** Pixels of the page above what is in sight. */
  readonly top: number
}

const radius = 14
/** A page is light as a rule: these stand out from it, and from each other. */
const spot = ['rgba(209, 38, 30, 0.55)', 'rgba(209, 38, 30, 0)'] as const
const line = '#1d4ed8'
/** A canvas has at most so many pixels a side: browsers draw nothing on much larger ones. A recording claims any window. */
const sideMax = 8_192

export function drawClicks(canvas: HTMLCanvasElement, { map, page, hasBands, marked, scale, top }: Drawn): void {
  const [width, height] = [page.width * scale, page.height * scale]
  const density = Math.min(devicePixelRatio || 1, sideMax / Math.max(width, height))
  canvas.width = Math.round(width * density)
  canvas.height = Math.round(height * density)
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(density, density)
  for (const point of map.points) {
    const [x, y] = [point.x * width, (point.y - top) * scale]
    if (y < -radius || y > height + radius) continue
    if (marked === undefined) drawSpot(context, x, y)
    else drawMark(context, x, y, point.element === marked)
  }
  if (hasBands) for (const band of map.scroll.bands) drawBand(context, band, { width, y: (band.y - top) * scale })
}

function drawSpot(context: CanvasRenderingContext2D, x: number, y: number): void {
  const fill = context.createRadialGradient(x, y, 0, x, y, radius)
  fill.addColorStop(0, spot[0])
  fill.addColorStop(1, spot[1])
  context.fillStyle = fill
  context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius)
}

/** Told apart by shape, not by colour alone: a ring, and a dot where it is another element's. */
function drawMark(context: CanvasRenderingContext2D, x: number, y: number, isMarked: boolean): void {
  if (isMarked) drawSpot(context, x, y)
  context.beginPath()
  context.arc(x, y, isMarked ? radius / 2 : 2, 0, 2 * Math.PI)
  if (isMarked) {
    context.lineWidth = 2
    context.strokeStyle = line
    context.stroke()
  } else {
    context.fillStyle = spot[0]
    context.fill()
  }
}

function drawBand(
  context: CanvasRenderingContext2D,
  { share }: ClickMap['scroll']['bands'][number],
  { width, y }: { width: number; y: number },
): void {
  context.fillStyle = line
  context.fillRect(0, y - 1, width, 2)
  const text = `${percent(share)} saw this`
  context.font = '12px system-ui, sans-serif'
  context.fillRect(0, y - 19, context.measureText(text).width + 12, 18)
  context.fillStyle = '#fff'
  context.fillText(text, 6, y - 6)
}
