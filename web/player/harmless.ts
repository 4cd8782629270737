/**
 * Takes out of a recording what isn't played. Anybody who knows a site's public key can send one, so three walls stand
 * around it. The document has an opaque origin. Its policy runs no script but the player's own, and allows no requests.
 * Code, loads and links are taken out here. Nothing in a recording makes it throw. Held by
 * test/browser/replay-player.test.ts and test/unit/replay-harmless.test.ts.
 */

export interface RecordedEvent {
  readonly type: number
  readonly timestamp: number
  readonly data: Readonly<Record<string, unknown>>
}

type Fields = Record<string, unknown>

/** rrweb's sources of changes that only change the document, its styles, or what is seen of it. */
const sources = [0, 1, 2, 3, 4, 5, 6, 8, 12, 13, 14, 15]
const movements: readonly unknown[] = [1, 6, 12]
/** Movements are told of twice a second. rrweb waits for one that is told to come later. */
const movementMs = 2_000
/** Names that a document can make an element of. */
const names = /^[a-z][\w.:-]*$/i
/** In SVG, names may have a namespace prefix: `x:script` is a script, too. */
const frames = /^(.*:)?(iframe|frame|frameset|object|embed|portal|fencedframe|script|base)$/i
const attributesOut = /^(on.*|srcdoc|http-equiv|rr_src|rr_media.*|autoplay|autofocus|ping|action|formaction|target)$/i
const addresses = /^(xlink:)?href$/i

/** @returns null for an event that isn't played. It may be changed in place */
export function harmless(event: unknown): RecordedEvent | null {
  if (!isObject(event)) return null
  const { type, data } = event
  if (!isObject(data) || Array.isArray(data) || typeof event['timestamp'] !== 'number') return null
  if (type === 2) {
    if (!isObject(data['node'])) return null
    cleanNode(data['node'])
    const { left, top } = isObject(data['initialOffset']) ? data['initialOffset'] : {}
    data['initialOffset'] = { left: numberOf(left), top: numberOf(top) }
  } else if (type === 3) {
    if (!sources.includes(data['source'] as number) || data['isAttachIframe']) return null
    if (data['source'] === 0) {
      for (const list of ['adds', 'attributes', 'texts', 'removes']) data[list] = listOf(data[list]).filter(isObject)
      data['adds'] = (data['adds'] as Fields[]).filter(({ node }) => isObject(node))
      for (const { node } of data['adds'] as Fields[]) cleanNode(node)
      for (const { attributes } of data['attributes'] as Fields[]) cleanAttributes(attributes)
    } else if (movements.includes(data['source'])) {
      const positions = listOf(data['positions']).filter(isPosition)
      if (positions.length === 0) return null
      data['positions'] = positions
    }
  } else if (type !== 4) return null
  return event as unknown as RecordedEvent
}

function cleanNode(root: unknown): void {
  const open = [root]
  while (open.length > 0) {
    const node = open.pop()
    if (!isObject(node)) continue
    const { type, tagName, attributes, childNodes } = node
    if (type === 2) {
      if (typeof tagName !== 'string' || !names.test(tagName) || frames.test(tagName)) node['tagName'] = 'div'
      // rrweb takes one of SVG for a film, which it can't pause.
      else if (/^(video|audio)$/i.test(tagName)) delete node['isSVG']
      if (!isObject(attributes)) node['attributes'] = {}
      // It says nothing within a frame, and browsers warn of a masked one.
      else if (tagName === 'meta' && attributes['name'] === 'viewport') delete attributes['content']
    }
    cleanAttributes(attributes)
    if (childNodes === undefined && type !== 0 && type !== 2) continue
    // One by one: a call has room for so many arguments.
    const children = listOf(childNodes).filter(isObject)
    node['childNodes'] = children
    for (const child of children) open.push(child)
  }
}

function cleanAttributes(attributes: unknown): void {
  if (!isObject(attributes)) return
  const values = attributes
  for (const name in values) {
    if (attributesOut.test(name)) delete values[name]
    // A link stays one, and leads nowhere.
    else if (addresses.test(name) && !/^(#|data:image\/)/i.test(textOf(values[name]))) values[name] = '#'
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isPosition(value: unknown): boolean {
  if (!isObject(value)) return false
  const { x, y, timeOffset } = value
  const isPlace = typeof x === 'number' && typeof y === 'number'
  return isPlace && typeof timeOffset === 'number' && timeOffset <= 0 && timeOffset >= -movementMs
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** An object of a recording may have a `toString` that is no function. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
