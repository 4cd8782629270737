/**
 * Follows one load of a page through its recorded events. It keeps the clicks of the page views that are asked for, with
 * their elements and places, and how far down was seen. It does no I/O. Held by test/unit/click-map.test.ts.
 *
 * Clicks have places in the viewport: with how far the page is scrolled they are places of the page. A click is dead
 * once a second has passed without a change of the page. The last ones of a recording count as not dead, since nobody
 * knows.
 */

import { isObject } from '../../../schemas/json-object.ts'
import {
  clickMapHeightMax,
  clickMapViewClicksMax,
  clickMapViewportMax,
  deadClickMs,
  desktopWidthMin,
  ownScrollMs,
  rageClicks,
  rageMs,
  ragePixels,
  tabletWidthMin,
} from '../../../schemas/limits/click-map-limits.ts'
import type { Viewport } from '../../../schemas/resources/click-map.ts'
import { type ClickedElement, clickedElementOf } from './clicked-element.ts'
import { click, eventTypes, isEvent, isNumber, type RecordedEvent, sources } from './recorded-event.ts'
import { RecordedPage } from './recorded-page.ts'

export interface MappedClick {
  /** Undefined: the recording doesn't have it. */
  readonly element: ClickedElement | undefined
  /** A fraction of the viewport's width, and pixels from the page's top; undefined: not within the page. */
  readonly place: { readonly x: number; readonly y: number } | undefined
  readonly at: number
  isDead: boolean
  readonly isRage: boolean
}

/** The facts of one page view. */
export interface PageView {
  /** Undefined: the recording doesn't say. */
  readonly viewport: Viewport | undefined
  readonly clicks: readonly MappedClick[]
  /** Clicks beyond those that are kept. */
  readonly cutClicks: number
  /** The lowest place in sight, in pixels. */
  readonly depth: number
  readonly snapshot: { readonly chunkId: number; readonly width: number; readonly height: number } | undefined
}

/** Whether a page answers: its nodes, scrolling, size, fields, media, styles or drawings change. */
const changes: readonly unknown[] = [0, 3, 4, 5, 7, 8, 9, 13, 15]
/** So many clicks before one can be part of the same rage. */
const recentMax = 10

export class PageViewFollower {
  private readonly page = new RecordedPage()
  private width = 0
  private height = 0
  private top = 0
  private isOnPath = false
  /** From then on `top` is the path's own. An app's next page begins as far down as the one before, or as it fits. */
  private ownTopFrom = 0
  private viewport: Viewport | undefined
  private depth = 0
  private readonly clicks: MappedClick[] = []
  private cutClicks = 0
  /** Clicks from here on may still be dead. */
  private undecided = 0
  private recent: { readonly at: number; readonly x: number; readonly y: number }[] = []
  private rageUntil = Number.NEGATIVE_INFINITY
  private hasSnapshot = false
  private snapshot: PageView['snapshot']

  /** @param isOfPath whether the chunk is of the page that is asked for: others tell what became of its nodes before */
  take(events: readonly unknown[], chunkId: number, isOfPath: boolean): void {
    for (const event of events) if (isEvent(event)) this.takeEvent(event, chunkId, isOfPath)
  }

  get view(): PageView {
    const { viewport, clicks, cutClicks, depth, snapshot } = this
    return { viewport, clicks, cutClicks, depth, snapshot }
  }

  private takeEvent(event: RecordedEvent, chunkId: number, isOfPath: boolean): void {
    const { type, timestamp, data } = event
    const isIncremental = type === eventTypes.incremental
    const isWhole = type === eventTypes.meta || type === eventTypes.fullSnapshot
    this.decide(timestamp, isWhole || (isIncremental && changes.includes(data['source'])))
    if (isOfPath && !this.isOnPath) this.ownTopFrom = timestamp + ownScrollMs
    this.isOnPath = isOfPath
    if (type === eventTypes.meta) this.resize(data)
    else if (type === eventTypes.fullSnapshot) this.begin(data, chunkId, isOfPath)
    else if (!isIncremental) return
    else if (data['source'] === sources.mutation) this.page.change(data)
    else if (data['source'] === sources.viewportResize) this.resize(data)
    else if (data['source'] === sources.scroll && data['id'] === this.page.documentId) this.scrollTo(data['y'])
    if (!isOfPath || this.width === 0) return
    this.viewport ??= viewportOf(this.width)
    const top = timestamp >= this.ownTopFrom ? this.top : 0
    this.depth = Math.max(this.depth, Math.min(top + this.height, clickMapHeightMax))
    if (isIncremental && data['source'] === sources.mouseInteraction && data['type'] === click) {
      this.takeClick(data, timestamp)
    }
  }

  private begin(data: RecordedEvent['data'], chunkId: number, isOfPath: boolean): void {
    this.page.begin(data['node'])
    const offset = data['initialOffset']
    this.scrollTo(isObject(offset) ? offset['top'] : 0)
    this.ownTopFrom = Number.NEGATIVE_INFINITY
    if (this.hasSnapshot) return
    this.hasSnapshot = true
    if (isOfPath && this.width > 0) this.snapshot = { chunkId, width: this.width, height: this.height }
  }

  private resize({ width, height }: RecordedEvent['data']): void {
    if (!isSide(width) || !isSide(height)) return
    this.width = Math.round(width)
    this.height = Math.round(height)
  }

  private scrollTo(top: unknown): void {
    if (isNumber(top)) this.top = Math.round(Math.min(Math.max(top, 0), clickMapHeightMax))
  }

  private takeClick({ id, x, y }: RecordedEvent['data'], at: number): void {
    if (this.clicks.length >= clickMapViewClicksMax) {
      this.cutClicks++
      return
    }
    const node = this.page.at(id)
    const element = node && clickedElementOf(node)
    const place = isNumber(x) && isNumber(y) ? this.placeOf(x, y) : undefined
    const isRage = isNumber(x) && isNumber(y) && this.isRage(at, x, y + this.top)
    this.clicks.push({ element, place, at, isDead: false, isRage })
  }

  private placeOf(x: number, y: number): MappedClick['place'] {
    const [across, down] = [x / this.width, Math.round(y + this.top)]
    return across >= 0 && across <= 1 && down >= 0 && down <= clickMapHeightMax ? { x: across, y: down } : undefined
  }

  /** True for the click that makes them so many: those that follow it at once belong to the same rage. */
  private isRage(at: number, x: number, y: number): boolean {
    this.recent = [...this.recent.slice(1 - recentMax), { at, x, y }].filter((one) => Math.abs(at - one.at) <= rageMs)
    const near = this.recent.filter((one) => Math.hypot(one.x - x, one.y - y) <= ragePixels)
    if (near.length < rageClicks) return false
    const isNew = at > this.rageUntil
    this.rageUntil = at + rageMs
    return isNew
  }

  /** Says of clicks whether the page answered them, as of an event. */
  private decide(at: number, isChange: boolean): void {
    for (; this.undecided < this.clicks.length; this.undecided++) {
      const one = this.clicks[this.undecided]!
      if (at - one.at > deadClickMs) one.isDead = one.element?.mayBeDead === true
      else if (!isChange) return
    }
  }
}

function isSide(length: unknown): length is number {
  return isNumber(length) && length >= 1 && length <= clickMapViewportMax
}

function viewportOf(width: number): Viewport {
  if (width >= desktopWidthMin) return 'desktop'
  return width >= tabletWidthMin ? 'tablet' : 'mobile'
}
