/** What the recorder keeps of a page's attributes and fields, and how it packs. */
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readEvents } from '../../ingest/replay/read-events.ts'
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
  'placeholder',
  'alt',
  'title',
  'value',
  'label',
  'content',
  'aria-label',
  'aria-valuetext',
  'data-name',
  'DATA-X',
])('%s is masked in a snapshot, in added nodes and in changes', (name) => {
  const node = { type: 2, attributes: { class: 'keep me', [name]: secret }, childNodes: [] }
  const snapshot = { type: 2, timestamp: 1, data: { node: { type: 0, childNodes: [structuredClone(node)] } } }
  const mutation = {
    ...{ type: 3, timestamp: 1 },
    data: {
      source: 0,
      adds: [{ node: structuredClone(node) }],
      attributes: [{ id: 1, attributes: { [name]: secret } }],
    },
  }
  for (const event of [snapshot, mutation]) {
    const text = afterMasking(event)
    expect(text).not.toMatch(/Ada|Lovelace|42/)
    expect(text).toContain(masked)
    expect(text).toContain('keep me')
  }
})

test('states that styles depend on stay, and code is dropped', () => {
  const attributes = {
    ...{ 'aria-expanded': 'true', 'data-state': 'open', 'data-theme': 'dark', 'data-user': 'ada', id: 'x' },
    ...{ onclick: 'alert(1)', onMouseOver: 'x()', srcdoc: '<p>Ada</p>', style: 'color: red', width: 3 },
  }
  const event = { type: 2, timestamp: 1, data: { node: { attributes } } }
  afterMasking(event)
  expect(event.data.node.attributes).toEqual({
    ...{ 'aria-expanded': 'true', 'data-state': 'open', 'data-theme': 'dark', 'data-user': '***', id: 'x' },
    ...{ style: 'color: red', width: 3 },
  })
})

test('what is typed is masked again, and a journey is taken out of the page’s address', () => {
  expect(afterMasking({ type: 3, timestamp: 1, data: { source: 5, text: secret, id: 3 } })).not.toMatch(/Ada|42/)
  const id = '1'.repeat(30)
  const href = `https://example.com/?a=1&svc_j=${id}.1.2`
  expect(afterMasking({ type: 4, timestamp: 1, data: { href } })).toContain('"https://example.com/?a=1"')
})

test.each([2, 65_535, 65_536, 200_000])('a chunk of %d letters that is packed at once is gzip', (length) => {
  const text = 'ä'.repeat(length / 2)
  const packed = Buffer.from(packAtOnce(text), 'base64')
  expect(gunzipSync(packed).toString('utf8')).toBe(text)
})

test('ingest reads what was packed at once', async () => {
  const events = [{ type: 3, timestamp: 5, data: { source: 2, type: 2 } }]
  expect(await readEvents(packAtOnce(JSON.stringify(events)))).toMatchObject({ eventCount: 1, clicks: 1, firstAt: 5 })
})
