/** The counts of a click map: clicks by element, dead ones and rage, places and depth, of recordings that are as they should be or not. */
import { expect, test } from 'vitest'
import { addUp } from '../../api/operations/click-map/add-up.ts'
import { PageViewFollower } from '../../api/operations/click-map/follow-page-view.ts'
import { clickMapViewClicksMax } from '../../schemas/limits/click-map-limits.ts'
import {
  recordedBegin as begin,
  recordedChange as change,
  recordedClick as click,
  recordedElement as element,
  recordedMutation as mutation,
  recordedPage as page,
  recordedScroll as scroll,
  recordedText as text,
} from '../support/recorded-pages.ts'

const buyButton = (id: number) => element(id, 'button', { class: 'buy css-1x2y3z' }, text(id + 1, '*** ***'))
const shop = page(
  element(
    4,
    'main',
    { id: 'shop' },
    element(5, 'ul', {}, ...[10, 20, 30].map((id) => element(id, 'li', {}, buyButton(id + 1)))),
  ),
  element(6, 'a', { href: '/about', id: 'x8f00d7' }, text(7, '*****')),
  element(8, 'input', { id: 'name' }),
)

function follow(...chunks: (readonly unknown[])[]) {
  const follower = new PageViewFollower()
  for (const [at, events] of chunks.entries()) follower.take(events, at + 1, true)
  return follower.view
}

/** A mutation once a second has passed: what was clicked before has no effect. */
const later = (at: number) => change(at, { source: 1, positions: [] })

test('clicks, visitors, dead clicks, rage and depth are those that were counted by hand', () => {
  const first = follow(
    begin(0, shop),
    // The second button's text: the click is the button's. The page answers it.
    [click(100, 22, 600, 100), mutation(400)],
    // Nothing happens for more than a second, though the pointer moves.
    [click(2_000, 11, 300, 50), later(3_500)],
    // A field and a link are never dead; the last click of a recording isn't yet.
    [click(5_000, 8, 10, 700), click(5_100, 6, 10, 700), scroll(7_000, 1_200), click(8_000, 11, 300, 50)],
  )
  const second = follow(
    begin(0, shop, 1_100, 800, 400),
    // Four within a second and 30 pixels are one rage; one that is farther away isn't part of it.
    [click(100, 11, 110, 50), click(200, 12, 120, 60), click(250, 8, 500, 50)],
    [click(300, 11, 110, 70), click(900, 11, 110, 70), later(5_000), click(6_000, 99, 1, 1)],
  )
  const views = [
    { ...first, visitor: '7' },
    { ...second, visitor: '8' },
    { ...first, visitor: '7' },
  ]
  const map = addUp(views)
  const shown = map.elements.map((row) => [row.selector, row.clicks, row.visitors, row.dead_clicks, row.rage_clicks])
  expect(shown).toEqual(
    [
      ['ul > li:nth-of-type(1) > button.buy', 8, 2, 6, 1],
      ['input#name', 3, 2, 0, 0],
      ['body > a', 2, 1, 0, 0],
      ['ul > li:nth-of-type(2) > button.buy', 2, 1, 0, 0],
    ].map(([name, ...figures]) => [String(name).replace(/^ul/, 'main#shop > ul'), ...figures]),
  )
  expect(map.elements[0]).toMatchObject({ text: '*** ***', share: 50 })
  // One click's node isn't in the recording.
  expect([map.visitors, map.clicks, map.dead_clicks, map.rage_clicks]).toEqual([2, 16, 6, 1])
  expect(map.points).toHaveLength(16)
  expect(map.points.slice(0, 5)).toEqual([
    { x: 0.5, y: 100, element: 3 },
    { x: 0.25, y: 50, element: 0 },
    { x: 0.0083, y: 700, element: 1 },
    { x: 0.0083, y: 700, element: 2 },
    { x: 0.25, y: 1_250, element: 0 },
  ])
  expect(map.points[5]).toEqual({ x: 0.1, y: 450, element: 0 })
  expect(map.points.filter(({ element }) => element === null)).toEqual([{ x: 0.0009, y: 401, element: null }])
  // 2,000 pixels were seen of two page views, 1,200 of one.
  expect(map.scroll.height).toBe(2_000)
  expect(map.scroll.bands.map(({ page_views }) => page_views)).toEqual([3, 3, 3, 3, 3, 3, 2, 2, 2, 2])
  expect(map.scroll.bands[6]).toEqual({ depth: 70, y: 1_400, page_views: 2, share: 66.67 })
  // One that claims to be far deeper than the others leaves the bands as they are.
  const claimed = addUp([...views, { ...first, depth: 100_000, visitor: '9' }])
  expect(claimed.scroll.height).toBe(2_000)
  expect(claimed.scroll.bands.map(({ page_views }) => page_views)).toEqual([4, 4, 4, 4, 4, 4, 3, 3, 3, 3])
})

test('an element is the one that stood there when it was clicked, whatever was added, moved and taken away', () => {
  const { clicks, snapshot } = follow(begin(0, shop), [
    click(10, 22, 1, 1),
    mutation(20, { removes: [{ parentId: 5, id: 10 }] }),
    click(30, 22, 1, 1),
    // Its parent comes behind it, and it stands before a sibling.
    mutation(40, {
      adds: [
        { parentId: 40, nextId: null, node: text(41, '**') },
        { parentId: 5, nextId: 20, node: element(40, 'li', {}) },
      ],
    }),
    click(50, 22, 1, 1),
    mutation(60, {
      attributes: [{ id: 21, attributes: { class: 'sold h-4', id: 'sold' } }],
      texts: [{ id: 22, value: '*' }],
    }),
    click(70, 22, 1, 1),
    click(80, 41, 1, 1),
  ])
  expect(clicks.map(({ element }) => `${element?.selector} ${element?.text}`)).toEqual([
    'main#shop > ul > li:nth-of-type(2) > button.buy *** ***',
    'main#shop > ul > li:nth-of-type(1) > button.buy *** ***',
    'main#shop > ul > li:nth-of-type(2) > button.buy *** ***',
    'button#sold *',
    'main#shop > ul > li:nth-of-type(1) **',
  ])
  expect(snapshot).toEqual({ chunkId: 1, width: 1_200, height: 800 })
})

test('an app’s next page has its own clicks and depth, and elements of the snapshot before it', () => {
  const follower = new PageViewFollower()
  follower.take([...begin(0, shop), click(10, 22, 1, 1), scroll(20, 5_000)], 1, false)
  follower.take([mutation(30), scroll(35, 3_000), scroll(40, 0), click(50, 12, 1, 1)], 2, true)
  follower.take([click(60, 12, 1, 1), scroll(70, 9_000)], 3, false)
  expect(follower.view).toMatchObject({ viewport: 'desktop', snapshot: undefined })
  expect(follower.view.clicks.map(({ element }) => element?.selector)).toEqual([
    'main#shop > ul > li:nth-of-type(1) > button.buy',
  ])
  // The route changes before the page scrolls up, and a browser scrolls up to where a lower page ends.
  expect(follower.view.depth).toBe(800)
  // An app that keeps its place doesn't scroll at all.
  follower.take([mutation(5_000)], 4, true)
  expect(follower.view.depth).toBe(800)
  follower.take([mutation(6_000)], 5, true)
  expect(follower.view.depth).toBe(9_800)
})

test('a hostile recording is followed without an error, and what can’t be isn’t counted', () => {
  const nothing = follow([
    null,
    5,
    [],
    {},
    { type: 2, timestamp: 1 },
    { type: 2, timestamp: 1, data: {} },
    click(1, 1, 1, 1),
  ])
  expect(nothing).toEqual({ viewport: undefined, clicks: [], cutClicks: 0, depth: 0, snapshot: undefined })
  expect(
    follow([{ type: 4, timestamp: 0, data: { width: '9', height: 1e9 } }, click(1, 1, 1, 1)]).viewport,
  ).toBeUndefined()

  const many = Array.from({ length: 20_000 }, (_, at) => element(100 + at, 'i', {}))
  const odd = [
    null,
    { id: {} },
    element(4, '<script>', { id: '"><b', class: 'a"] * {', role: {} }),
    { type: 2, tagName: 5 },
  ]
  const adds = Array.from({ length: 20_000 }, (_, at) => ({
    parentId: 200_000 + at,
    node: element(200_001 + at, 'p', {}),
  }))
  const view = follow(begin(0, page(element(9, 'div', {}, ...many), ...odd), 400, 700, 1e12), [
    // A node within itself, beside itself and with its parent's id.
    mutation(1, {
      adds: [{ parentId: 9, nextId: 9, node: element(9, 'div', {}, element(3, 'b', {})) }],
      removes: [{ id: {} }, 7],
    }),
    mutation(2, {
      adds: [{ parentId: 3, nextId: 3, node: element(2, 'u', {}) }],
      texts: 5,
      attributes: [{ id: 2, attributes: 7 }],
    }),
    // Each is the child of the one after it.
    mutation(3, { adds: [...adds.reverse(), { parentId: 1, node: element(200_000, 'p', {}) }] }),
    mutation(4, { isAttachIframe: true, adds: [{ parentId: 4, node: page() }] }),
    click(5, 220_000, 1, 1),
    click(6, 10_000, 1, 1),
    ...[Number.NaN, null, '1', { valueOf: 1 }, -5, 1e9].map((x, at) => click(7 + at, at % 2 ? [4] : 4, x, x)),
    ...Array.from({ length: clickMapViewClicksMax + 5 }, () => click(9, 3, 1, 1)),
  ])
  expect(view.viewport).toBe('mobile')
  expect(view.clicks).toHaveLength(clickMapViewClicksMax)
  const { elements, points, scroll: seen, rage_clicks, cut_clicks } = addUp([{ ...view, visitor: '1' }])
  expect(elements.map(({ selector }) => selector)).toContain('body > unknown:nth-of-type(1)')
  expect(elements.every(({ selector }) => /^[\w#.:()> -]+$/.test(selector))).toBe(true)
  expect(points.every(({ x, y }) => x >= 0 && x <= 1 && y >= 0 && y <= 100_000)).toBe(true)
  expect(seen.height).toBe(100_000)
  expect(rage_clicks).toBe(1)
  // Two, the six odd ones, and five more than the bound.
  expect(cut_clicks).toBe(13)
})
