/** Draws the clicks, and how far visitors scrolled, over the part of a page that is in sight. */
import type { ClickMap } from '../../schemas/resources/click-map.ts'
import { percent } from './format.ts'

interface Drawn {
  readonly map: ClickMap
  readonly page: NonNullable<ClickMap['page']>
  readonly hasBands: boolean
  /** Pixels of the screen for one of the page. */
  readonly scale: number
  /** Pixels of the page above what is in sight. */
  readonly top: number
}

const radius = 14
/** A page is light as a rule: these stand out from it, and from each other. */
const spot = ['rgba(209, 38, 30, 0.55)', 'rgba(209, 38, 30, 0)'] as const
const line = '#1d4ed8'

export function drawClicks(canvas: HTMLCanvasElement, { map, page, hasBands, scale, top }: Drawn): void {
  const [width, height] = [page.width * scale, page.height * scale]
  const density = devicePixelRatio || 1
  canvas.width = Math.round(width * density)
  canvas.height = Math.round(height * density)
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` })
  const context = canvas.getContext('2d')
  if (context === null) return
  context.scale(density, density)
  for (const point of map.points) {
    const [x, y] = [point.x * width, (point.y - top) * scale]
    if (y < -radius || y > height + radius) continue
    const fill = context.createRadialGradient(x, y, 0, x, y, radius)
    fill.addColorStop(0, spot[0])
    fill.addColorStop(1, spot[1])
    context.fillStyle = fill
    context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius)
  }
  if (hasBands) for (const band of map.scroll.bands) drawBand(context, band, { width, y: (band.y - top) * scale })
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
