/** The recorder: which sessions it records, how it masks attributes, texts and fields, and how it packs. */
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { countEvents, readEvents, unpackEvents } from '../../ingest/replay/read-events.ts'
import { isChosen } from '../../web/script/replay/choice.ts'
import { maskEvent } from '../../web/script/replay/masking.ts'
import { packAtOnce } from '../../web/script/replay/pack.ts'

const secret = 'Ada Lovelace 42'
const masked = '*** ******** **'

type Event = Parameters<typeof maskEvent>[0]
const afterMasking = (event: unknown) => {
  maskEvent(event as Event)
  return JSON.stringify(event)
}

test.each([
  ...'placeholder alt title value label content aria-label aria-valuetext'.split(' '),
  ...'data-name DATA-X user-name tooltip for text'.split(' '),
])('%s is masked in a snapshot, in added nodes and in changes', (name) => {
  const node = { type: 2, attributes: { class: 'keep me', [name]: secret }, childNodes: [] }
  const snapshot = { type: 2, timestamp: 1, data: { node: { type: 0, childNodes: [structuredClone(node)] } } }
  const attributes = [{ id: 1, attributes: { [name]: secret } }]
  const data = { source: 0, adds: [{ node: structuredClone(node) }], texts: [], attributes }
  const mutation = { type: 3, timestamp: 1, data }
  for (const event of [snapshot, mutation]) {
    const text = afterMasking(event)
    expect(text).not.toMatch(/Ada|Lovelace|42/)
    expect(text).toContain(masked)
    expect(text).toContain('keep me')
  }
})

test('states that styles depend on stay, and code is dropped', () => {
  const attributes = {
    'aria-expanded': 'true',
    'data-state': 'open',
    'data-theme': 'dark',
    'data-user': 'ada',
    id: 'x',
    onclick: 'alert(1)',
    onMouseOver: 'x()',
    srcdoc: '<p>Ada</p>',
    style: 'color: red',
    width: 3,
  }
  const event = { type: 2, timestamp: 1, data: { node: { attributes } } }
  afterMasking(event)
  expect(event.data.node.attributes).toEqual({
    'aria-expanded': 'true',
    'data-state': 'open',
    'data-theme': 'dark',
    'data-user': '***',
    id: 'x',
    style: 'color: red',
    width: 3,
  })
})

test('what is typed is masked again, and a journey is taken out of the page’s address', () => {
  expect(afterMasking({ type: 3, timestamp: 1, data: { source: 5, text: secret, id: 3 } })).not.toMatch(/Ada|42/)
  const id = '1'.repeat(30)
  const href = `https://example.com/?a=1&svc_j=${id}.1.2`
  expect(afterMasking({ type: 4, timestamp: 1, data: { href } })).toContain('"https://example.com/?a=1"')
})

const snapshotOf = (node: unknown) => ({ type: 2, timestamp: 1, data: { node } })
const attributesAfter = (attributes: Record<string, unknown>) => {
  const event = snapshotOf({ type: 2, tagName: 'p', attributes })
  afterMasking(event)
  return event.data.node as { attributes: Record<string, unknown> }
}

test('a page’s look stays: classes, styles, sizes, addresses and drawings', () => {
  const look = {
    id: 'x',
    class: 'a b',
    href: 'https://example.com/a?b',
    src: '/p.png',
    srcset: '/p.png 1x, /q.png 2x',
    type: 'text',
    role: 'tab',
    width: '10',
    colspan: '2',
    d: 'M0 0h24',
    viewBox: '0 0 24 24',
    fill: 'red',
    'stroke-width': '2',
    points: '1,2',
    'xlink:href': '#icon',
    rr_width: '5px',
    rr_scrollTop: 7,
    style: 'top: 0',
  }
  expect(attributesAfter({ ...look }).attributes).toEqual(look)
})

test('an address keeps no mail address, no number and no picture', () => {
  const { attributes } = attributesAfter({
    href: 'mailto:ada@example.com?subject=Hi',
    'xlink:href': 'tel:+4930123',
    poster: ' SMS:123',
    src: 'data:image/png;base64,QWRh',
    srcset: '/a.png 1x, data:image/png;base64,QWRh 2x',
  })
  expect(attributes).toEqual({ href: 'mailto:', 'xlink:href': 'tel:', poster: 'SMS:', src: 'data:,', srcset: 'data:,' })
})

test('no password stands before a host, in addresses and styles; other signs stay', () => {
  const own = 'https://ada:hunter2@example.com'
  const others = 'https://example.com/@ada/a:b@2x.png?to=x@y'
  const css = (at: string) => `a{background:url("${at}/a.png")}b{content:'://'}@media print{c{color:red}}`
  const { attributes } = attributesAfter({
    href: `${own}/b`,
    src: others,
    srcset: `${own}/a.png 1x, ${own}/b@2x.png 2x`,
    _cssText: css(own),
    style: `background: url("${own}/a.png")`,
  })
  expect(attributes).toEqual({
    href: 'https://example.com/b',
    src: others,
    srcset: 'https://example.com/a.png 1x, https://example.com/b@2x.png 2x',
    _cssText: css('https://example.com'),
    style: 'background: url("https://example.com/a.png")',
  })
})

test('pictures within styles are dropped, and drawings of style sheets stay', () => {
  const picture = 'a { background: url("data:image/png;base64,QWRh") } b { background: url( data:image/gif,QWRh) }'
  const drawing = `c { background: url("data:image/svg+xml,<svg xmlns='x'>\\"(y)</svg>") }`
  const style = { type: 2, tagName: 'style', attributes: { _cssText: picture + drawing }, childNodes: [] as unknown[] }
  style.childNodes.push({ type: 3, textContent: picture + drawing })
  const snapshot = afterMasking(snapshotOf(style))
  const change = (data: object) => afterMasking({ type: 3, timestamp: 1, data })
  const rest = { adds: [], texts: [] }
  const changes = [
    ...[{ background: [`url(${"'data:,QWRh'"})`, ''] }, picture].map((style) =>
      change({ source: 0, ...rest, attributes: [{ attributes: { style } }] }),
    ),
    change({ source: 8, adds: [{ rule: picture }] }),
    change({ source: 13, set: { property: 'background', value: picture } }),
    change({ source: 15, styles: [{ rules: [{ rule: picture }] }] }),
  ]
  for (const text of [snapshot, ...changes]) {
    expect(text).not.toContain('QWRh')
    expect(text).toContain('data:,')
  }
  expect(snapshot.split('(y)</svg>')).toHaveLength(3)
})

test('texts are masked wherever they stand, except for those of styles', () => {
  const text = { type: 3, textContent: secret }
  const shadow = { type: 2, tagName: 'x-a', isShadowHost: true, childNodes: [{ ...text, isShadow: true }] }
  expect(afterMasking(snapshotOf(shadow))).not.toMatch(/Ada|42/)
  const mutation = {
    source: 0,
    attributes: [],
    adds: [
      { parentId: 1, node: { ...text } },
      { parentId: 2, node: { type: 3, textContent: 'p { top: 0 }' } },
    ],
    texts: [
      { id: 3, value: secret },
      { id: 4, value: null },
      { id: 2, value: 'p { background: url(data:,QWRh) }' },
    ],
  }
  maskEvent({ type: 3, timestamp: 1, data: mutation } as unknown as Event, (id) => id === 2)
  expect(mutation.adds.map(({ node }) => node.textContent)).toEqual([masked, 'p { top: 0 }'])
  expect(mutation.texts.map(({ value }) => value)).toEqual([masked, null, 'p { background: url(data:,) }'])
})

test('whether a box is ticked isn’t kept', () => {
  expect(attributesAfter({ checked: true, selected: true, 'aria-checked': 'true' }).attributes).toEqual({})
  const ticked = { type: 3, timestamp: 1, data: { source: 5, text: 'on', isChecked: true, id: 3 } }
  expect(afterMasking(ticked)).toContain('"isChecked":false')
})

test('a list of 300,000 nodes is masked', () => {
  const childNodes = Array.from({ length: 300_000 }, () => ({ type: 2, tagName: 'p', attributes: { title: secret } }))
  expect(afterMasking(snapshotOf({ type: 2, tagName: 'p', childNodes }))).not.toContain('Ada')
})

test('a share of sessions is recorded, a session always or never, and more with a larger share', () => {
  const sessions = Array.from({ length: 10_000 }, (_, at) => `${1_790_000_000_000 + at * 37_000}.${at}123456789`)
  const chosen = (share: number) => sessions.filter((session) => isChosen(session, share))
  expect([chosen(0).length, chosen(100).length]).toEqual([0, 10_000])
  expect(Math.abs(chosen(25).length - 2_500)).toBeLessThan(250)
  const half = new Set(chosen(50))
  expect(chosen(25).filter((session) => !half.has(session))).toEqual([])
})

test.each([2, 65_535, 65_536, 200_000])('a chunk of %d letters that is packed at once is gzip', (length) => {
  const text = 'ä'.repeat(length / 2)
  const packed = Buffer.from(packAtOnce(text), 'base64')
  expect(gunzipSync(packed).toString('utf8')).toBe(text)
})

test('ingest reads what was packed at once', async () => {
  const events = [{ type: 3, timestamp: 5, data: { source: 2, type: 2 } }]
  const json = await unpackEvents(packAtOnce(JSON.stringify(events)))
  expect(readEvents(countEvents(json!)!)).toMatchObject({ eventCount: 1, clicks: 1, firstAt: 5 })
})
