/** Recordings of pages, event by event, as rrweb makes them. */

export interface MadeNode {
  readonly type: number
  readonly id: number
  readonly [field: string]: unknown
}

export const recordedText = (id: number, textContent: string): MadeNode => ({ type: 3, id, textContent })

export const recordedElement = (
  id: number,
  tagName: string,
  attributes: object,
  ...childNodes: unknown[]
): MadeNode => ({
  type: 2,
  id,
  tagName,
  attributes,
  childNodes,
})

/** The document has the id 1, its body 3. */
export const recordedPage = (...body: unknown[]): MadeNode => ({
  type: 0,
  id: 1,
  childNodes: [recordedElement(2, 'html', {}, recordedElement(3, 'body', {}, ...body))],
})

/** How a recording of a page begins. */
export function recordedBegin(timestamp: number, node: unknown, width = 1_200, height = 800, top = 0): object[] {
  return [
    { type: 4, timestamp, data: { href: 'https://example.com/', width, height } },
    { type: 2, timestamp, data: { node, initialOffset: { left: 0, top } } },
  ]
}

export const recordedChange = (timestamp: number, data: object) => ({ type: 3, timestamp, data })

export const recordedClick = (timestamp: number, id: unknown, x: unknown, y: unknown) =>
  recordedChange(timestamp, { source: 2, type: 2, id, x, y })

export const recordedScroll = (timestamp: number, y: number) => recordedChange(timestamp, { source: 3, id: 1, x: 0, y })

export const recordedMutation = (timestamp: number, data: object = {}) =>
  recordedChange(timestamp, { source: 0, adds: [], removes: [], texts: [], attributes: [], ...data })
