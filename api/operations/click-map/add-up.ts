/** Adds up the page views of a click map. Pure; test/unit/click-map.test.ts. */
import {
  clickMapDeepShare,
  clickMapDeepViews,
  clickMapElementsMax,
  clickMapPointsMax,
} from '../../../schemas/limits/click-map-limits.ts'
import type { ClickMap } from '../../../schemas/resources/click-map.ts'
import { perCent } from '../analytics/metrics.ts'
import type { PageView } from './follow-page-view.ts'

/** A page view, and whose it is. */
export interface VisitorPageView extends Pick<PageView, 'clicks' | 'cutClicks' | 'depth'> {
  readonly visitor: string
}

type Figures = Pick<
  ClickMap,
  'visitors' | 'clicks' | 'cut_clicks' | 'dead_clicks' | 'rage_clicks' | 'elements' | 'points' | 'scroll'
>

interface Element {
  readonly text: string
  readonly visitors: Set<string>
  clicks: number
  dead: number
  rage: number
}

/** @param views the newest first: a text is that of the newest one */
export function addUp(views: readonly VisitorPageView[]): Figures {
  const elements = new Map<string, Element>()
  const points: { readonly x: number; readonly y: number; readonly selector: string | undefined }[] = []
  let clicks = 0
  let dead = 0
  let rage = 0
  for (const view of views) {
    for (const { element, place, isDead, isRage } of view.clicks) {
      clicks++
      dead += Number(isDead)
      rage += Number(isRage)
      if (place !== undefined && points.length < clickMapPointsMax) {
        points.push({ x: Math.round(place.x * 10_000) / 10_000, y: place.y, selector: element?.selector })
      }
      if (element === undefined) continue
      const known = elements.get(element.selector) ?? {
        text: element.text,
        visitors: new Set<string>(),
        clicks: 0,
        dead: 0,
        rage: 0,
      }
      elements.set(element.selector, known)
      known.visitors.add(view.visitor)
      known.clicks++
      known.dead += Number(isDead)
      known.rage += Number(isRage)
    }
  }
  const shown = shownElements(elements, clicks)
  const indexes = new Map<string | undefined, number>(shown.map(({ selector }, index) => [selector, index]))
  return {
    visitors: new Set(views.map(({ visitor }) => visitor)).size,
    clicks,
    dead_clicks: dead,
    rage_clicks: rage,
    cut_clicks: views.reduce((sum, { cutClicks }) => sum + cutClicks, 0),
    elements: shown,
    points: points.map(({ x, y, selector }) => ({ x, y, element: indexes.get(selector) ?? null })),
    scroll: scrollOf(views),
  }
}

function shownElements(elements: ReadonlyMap<string, Element>, all: number): ClickMap['elements'] {
  return [...elements]
    .sort(([nameA, a], [nameB, b]) => b.clicks - a.clicks || (nameA < nameB ? -1 : 1))
    .slice(0, clickMapElementsMax)
    .map(([selector, { text, visitors, clicks, dead, rage }]) => ({
      selector,
      text,
      clicks,
      visitors: visitors.size,
      share: perCent(clicks, all),
      dead_clicks: dead,
      rage_clicks: rage,
    }))
}

/**
 * A recording doesn't have its page's height: the lowest place that some of the page views saw stands for it. A single one that
 * was much deeper than the others, or claims so, doesn't set it.
 */
function scrollOf(views: readonly VisitorPageView[]): ClickMap['scroll'] {
  const depths = views.map(({ depth }) => depth).sort((a, b) => b - a)
  const deep =
    depths.length > clickMapDeepViews ? Math.max(clickMapDeepViews, Math.ceil(depths.length * clickMapDeepShare)) : 1
  const height = depths[deep - 1] ?? 0
  if (height === 0) return { height, bands: [] }
  const bands = Array.from({ length: 10 }, (_, at) => {
    const depth = (at + 1) * 10
    const y = Math.floor((height * depth) / 100)
    const seen = views.filter((view) => view.depth >= y).length
    return { depth, y, page_views: seen, share: perCent(seen, views.length) }
  })
  return { height, bands }
}
