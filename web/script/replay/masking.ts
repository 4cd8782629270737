/**
 * What a recording must not hold. rrweb masks texts and fields; attributes that show or carry text are masked here, in each
 * event before it is kept. Held by test/unit/replay-masking.test.ts and test/browser/replay.test.ts.
 */
import type { eventWithTime } from '@rrweb/types'
import { addressOf } from '../sessions.ts'

/** Regions of which only the size is recorded. */
export const blocked = '[data-svc-block],.svc-block,[svc-no-capture],.svc-no-capture'

/** Each character but blanks becomes a star: layout stays about the same. */
export function mask(text: string): string {
  return text.replace(/\S/g, '*')
}

/** Attributes that are shown, read aloud, or carry a text; those of `data-` and `aria-` besides. */
const texts =
  /^(abbr|alt|cite|content|datetime|default-value|download|label|placeholder|prompt|standby|summary|title|value|data-.*|aria-.*)$/i
/** States that styles depend on. */
const states =
  /^(|true|false|mixed|page|step|on|off|open|closed|active|inactive|checked|unchecked|selected|expanded|collapsed|horizontal|vertical|light|dark)$/
/** Code and documents within an attribute. */
const dropped = /^(on.*|srcdoc|nonce|integrity)$/i

type Attributes = Record<string, unknown>

/** Masks in place: rrweb keeps no reference to what it has given out. */
export function maskEvent(event: eventWithTime): void {
  const { type, data } = event as { type: number; data: Attributes }
  if (type === 4) data['href'] = addressOf(String(data['href']))
  if (type === 2) maskNode(data['node'] as Node)
  if (type !== 3) return
  if (data['source'] === 5) data['text'] = mask(String(data['text']))
  if (data['source'] !== 0) return
  for (const { node } of data['adds'] as { node: Node }[]) maskNode(node)
  for (const { attributes } of data['attributes'] as { attributes: Attributes }[]) maskAttributes(attributes)
}

interface Node {
  attributes?: Attributes
  childNodes?: Node[]
}

function maskNode(root: Node): void {
  const open = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.attributes) maskAttributes(node.attributes)
    if (node.childNodes) open.push(...node.childNodes)
  }
}

function maskAttributes(attributes: Attributes): void {
  for (const name in attributes) {
    const value = attributes[name]
    if (dropped.test(name)) delete attributes[name]
    else if (typeof value === 'string' && texts.test(name) && !states.test(value)) attributes[name] = mask(value)
  }
}
