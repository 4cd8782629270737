/** Recordings that were made to break the player. */
import { expect, test } from 'vitest'
import { harmless } from '../../web/player/harmless.ts'

const snapshotOf = (node: unknown) => ({ type: 2, timestamp: 1, data: { node } })
const change = (data: object) => ({ type: 3, timestamp: 1, data: { source: 0, ...data } })

test.each([null, 5, 'x', [], {}, { type: 2 }, { type: 2, timestamp: 1, data: null }, { type: 2, data: {} }])(
  '%j is no event, and not played',
  (event) => {
    expect(harmless(event)).toBe(null)
  },
)

test('entries that are no objects are left out of a snapshot and of a change', () => {
  const node = { type: 2, tagName: 'p', attributes: null, childNodes: [null, 5, 'x', { type: 3 }] }
  expect(harmless(snapshotOf(node))!.data['node']).toMatchObject({ childNodes: [{ type: 3 }] })
  expect(harmless(snapshotOf(null))).toBe(null)
  const bare = { type: 2, tagName: ' ' }
  expect(harmless(snapshotOf(bare))!.data['node']).toEqual({ type: 2, tagName: 'div', attributes: {}, childNodes: [] })
  const hostile = {
    adds: [null, { node: null }, { node: { type: 3 } }],
    attributes: [null, { attributes: 7 }],
    texts: 'x',
  }
  expect(harmless(change(hostile))!.data).toEqual({
    source: 0,
    adds: [{ node: { type: 3 } }],
    attributes: [{ attributes: 7 }],
    texts: [],
    removes: [],
  })
})

test('a masked viewport, of which browsers would warn, is left out, and no other meta tag', () => {
  const meta = (attributes: object) => ({ type: 2, tagName: 'meta', attributes, childNodes: [] })
  const head = [meta({ name: 'viewport', content: '***' }), meta({ name: 'color-scheme', content: 'dark' })]
  const node = { type: 2, tagName: 'head', attributes: {}, childNodes: head }
  expect(harmless(snapshotOf(node))!.data['node']).toMatchObject({
    childNodes: [meta({ name: 'viewport' }), meta({ name: 'color-scheme', content: 'dark' })],
  })
})

test('movements that rrweb can’t show, or would wait for, are left out, and so is a place that is none', () => {
  const move = (positions: unknown) => ({ type: 3, timestamp: 1, data: { source: 1, positions } })
  const kept = { x: 1, y: 2, id: 3, timeOffset: -500 }
  const odd = [null, {}, { ...kept, x: '1' }, { ...kept, timeOffset: 1e15 }, { ...kept, timeOffset: -1e15 }]
  expect(harmless(move([...odd, kept]))!.data['positions']).toEqual([kept])
  for (const none of [odd, [], undefined, 'x']) expect(harmless(move(none))).toBe(null)
  const whole = { type: 2, timestamp: 1, data: { node: { type: 0 }, initialOffset: 'x' } }
  expect(harmless(whole)!.data['initialOffset']).toEqual({ left: 0, top: 0 })
})

test('names and addresses that are no texts are replaced', () => {
  const noText = { toString: 1 }
  const node = { type: 2, tagName: noText, attributes: { href: noText }, childNodes: { length: 3 } }
  expect(harmless(snapshotOf(node))!.data['node']).toEqual({
    type: 2,
    tagName: 'div',
    attributes: { href: '#' },
    childNodes: [],
  })
})

test('a script of SVG is none, whatever its prefix', () => {
  const script = { type: 2, tagName: 'x:script', isSVG: true, attributes: {}, childNodes: [] }
  expect(harmless(snapshotOf(script))!.data['node']).toMatchObject({ tagName: 'div' })
})

test('a node with 300,000 children is cleaned', () => {
  const childNodes = Array.from({ length: 300_000 }, () => ({ type: 2, tagName: 'script' }))
  const { node } = harmless(snapshotOf({ type: 2, tagName: 'p', childNodes }))!.data as {
    node: { childNodes: object[] }
  }
  expect(node.childNodes.every((child) => (child as { tagName: string }).tagName === 'div')).toBe(true)
})
