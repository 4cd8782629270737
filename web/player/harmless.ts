/**
 * What of a recording is played. Anybody who knows a site's public key can send one, so this is the second of three walls:
 * the document has an opaque origin, its policy runs no script but the player's own and asks the network for nothing, and
 * what could run, load or lead away is taken out here. Held by test/browser/replay-player.test.ts.
 */

export interface RecordedEvent {
  readonly type: number
  readonly timestamp: number
  readonly data: Readonly<Record<string, unknown>>
}

/** rrweb's sources of changes that only change the document, its styles, or what is seen of it. */
const sources = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15]
const frames = /^(iframe|frame|frameset|object|embed|portal|fencedframe|script|base)$/i
const attributesOut = /^(on.*|srcdoc|http-equiv|rr_src|ping|action|formaction|target)$/i
const addresses = /^(xlink:)?href$/i

/** @returns null for an event that isn't played. It may be changed in place */
export function harmless(event: RecordedEvent): RecordedEvent | null {
  const { type, data } = event
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null
  if (type === 2) cleanNode(data['node'])
  else if (type === 3) {
    if (!sources.includes(data['source'] as number) || data['isAttachIframe']) return null
    if (data['source'] === 0) {
      for (const added of listOf(data['adds'])) cleanNode((added as { node?: unknown }).node)
      for (const changed of listOf(data['attributes']))
        cleanAttributes((changed as { attributes?: unknown }).attributes)
    }
  } else if (type !== 4) return null
  return event
}

function cleanNode(root: unknown): void {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue
    const element = node as { tagName?: unknown; attributes?: unknown; childNodes?: unknown }
    if (element.tagName !== undefined && frames.test(String(element.tagName))) element.tagName = 'div'
    cleanAttributes(element.attributes)
    open.push(...listOf(element.childNodes))
  }
}

function cleanAttributes(attributes: unknown): void {
  if (typeof attributes !== 'object' || attributes === null) return
  const values = attributes as Record<string, unknown>
  for (const name in values) {
    if (attributesOut.test(name)) delete values[name]
    // A link stays one, and leads nowhere.
    else if (addresses.test(name) && !/^(#|data:image\/)/i.test(String(values[name]))) values[name] = '#'
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
