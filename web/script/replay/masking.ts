/**
 * Masks each event before it is kept. rrweb masks most texts and fields; attributes, addresses, ticks and texts of shadow
 * roots are masked here. Held by test/unit/replay-masking.test.ts and test/browser/replay-recording.test.ts.
 */
import type { eventWithTime } from '@rrweb/types'
import { addressOf } from '../sessions.ts'

/** Regions whose size alone is recorded. */
export const blocked = '[data-svc-block],.svc-block,[svc-no-capture],.svc-no-capture'

/** Each character but blanks becomes a star: layout stays about the same. */
export function mask(text: string): string {
  // By words: a letter at a time holds the page for a second where a text has millions.
  return text.replace(/\S+/g, (word) => '*'.repeat(word.length))
}

/** A style element of HTML or SVG: its text is no text for people. */
export function isStyleElement(element: { readonly nodeName: string } | null | undefined): boolean {
  return /^style$/i.test(element?.nodeName || '')
}

/** Attributes that a page's look depends on, and that hold no text for people; all others are masked. */
const kept = new RegExp(
  `^(${[
    'id|class|type|name|role|media|rel|lang|dir|hidden|open|disabled|multiple|slot|part',
    'rr_(open_mode|width|height|(media|scroll)[a-z]+)',
    'width|height|size|sizes|rows|cols|colspan|rowspan|span|align|valign|border|cellpadding|cellspacing|bgcolor|color|face',
    'd|points|x|y|[xy][12]|[cfr][xy]|d[xy]|r|viewBox|preserveAspectRatio|pathLength|transform|offset|orient|opacity',
    'fill(-opacity|-rule)?|stroke(-(width|opacity|linecap|linejoin|miterlimit|dasharray|dashoffset))?|clip-(path|rule)|mask',
    '(gradient|pattern|patternContent|clipPath|mask|maskContent|marker)Units|(gradient|pattern)Transform|spreadMethod',
    'stop-(color|opacity)|marker(-start|-mid|-end|Width|Height)|ref[XY]|vector-effect|dominant-baseline|text-anchor',
    'font-(family|size|weight|style)|letter-spacing|xmlns(:xlink)?|version',
  ].join('|')})$`,
  'i',
)
/** Addresses, as they are but for those of people and data. */
const addresses = /^(src|srcset|href|xlink:href|poster|rr_src)$/i
/** States that styles depend on. */
const states =
  /^(|true|false|mixed|page|step|on|off|open|closed|active|inactive|selected|expanded|collapsed|horizontal|vertical|light|dark)$/
/** Code and documents within an attribute, and ticks: a choice is as private as a text. */
const dropped = /^(on.*|srcdoc|nonce|integrity|checked|selected|aria-checked)$/i

/** A data URL of CSS, in quotes or bare. */
const dataUrls = /"\s*data:(?:[^"\\]|\\[\s\S])*"|'\s*data:(?:[^'\\]|\\[\s\S])*'|\(\s*data:[^)]*/gi
const svgUrl = /^.\s*data:image\/svg\+xml/i

type Fields = Record<string, unknown>

interface Node {
  type?: number
  tagName?: string
  textContent?: string
  attributes?: Fields
  childNodes?: Node[]
}

/**
 * Masks in place, which is safe: rrweb later reads only the ids of an event.
 * @param isStyle whether the node of an id is a style element, or a text directly in one
 */
export function maskEvent(event: eventWithTime, isStyle: (id: number) => boolean = () => false): void {
  const { type, data } = event as { type: number; data: Fields }
  if (type === 4) data['href'] = addressOf(String(data['href']))
  if (type === 2) maskNode(data['node'] as Node)
  if (type !== 3) return
  const { source } = data
  if (source === 0) maskMutation(data as unknown as Mutation, isStyle)
  else if (source === 5) {
    data['text'] = mask(String(data['text']))
    data['isChecked'] = false
  } else if (source === 8 || source === 13 || source === 15) maskStyles(data)
}

interface Mutation {
  readonly adds: readonly { readonly parentId: number; readonly node: Node }[]
  readonly texts: readonly { readonly id: number; value: string | null }[]
  readonly attributes: readonly { readonly attributes: Fields }[]
}

function maskMutation({ adds, texts, attributes }: Mutation, isStyle: (id: number) => boolean): void {
  for (const { parentId, node } of adds) maskNode(node, isStyle(parentId))
  for (const text of texts) if (text.value) text.value = maskText(text.value, isStyle(text.id))
  for (const { attributes: changed } of attributes) maskAttributes(changed)
}

function maskNode(root: Node, isInStyle = false): void {
  if (root.type === 3) maskTextNode(root, isInStyle)
  const open = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.attributes) maskAttributes(node.attributes)
    for (const child of node.childNodes || []) {
      if (child.type === 3) maskTextNode(child, node.tagName === 'style')
      else open.push(child)
    }
  }
}

function maskTextNode(node: Node, isInStyle: boolean): void {
  node.textContent = maskText(node.textContent || '', isInStyle)
}

function maskText(text: string, isInStyle: boolean): string {
  return isInStyle ? withoutData(text) : mask(text)
}

function maskAttributes(attributes: Fields): void {
  for (const name in attributes) {
    const value = attributes[name]
    if (dropped.test(name)) delete attributes[name]
    else if (name === 'style') attributes[name] = withoutDataIn(value, false)
    else if (typeof value !== 'string') continue
    else if (name === '_cssText') attributes[name] = withoutData(value)
    else if (addresses.test(name)) attributes[name] = maskAddress(value)
    else if (!kept.test(name) && !states.test(value)) attributes[name] = mask(value)
  }
}

/** Mail addresses and telephone numbers name people; the scheme stays. */
function maskAddress(value: string): string {
  if (/(^|[\s,])data:/i.test(value)) return 'data:,'
  return withoutPasswords(value).replace(/^\s*(?!https?:|blob:|file:|about:)([a-z][a-z\d+.-]*:)[\s\S]*/i, '$1')
}

function maskStyles(data: Fields): void {
  for (const name in data) data[name] = withoutDataIn(data[name], true)
}

/** Texts of CSS within lists and objects of them. */
function withoutDataIn(value: unknown, keepsSvg: boolean): unknown {
  if (typeof value === 'string') return withoutData(value, keepsSvg)
  if (typeof value === 'object' && value !== null) {
    for (const name in value) (value as Fields)[name] = withoutDataIn((value as Fields)[name], keepsSvg)
  }
  return value
}

/** A style sheet's drawings are icons of the site; pictures may be of people. */
function withoutData(css: string, keepsSvg = true): string {
  return withoutPasswords(css).replace(dataUrls, (url) => {
    if (keepsSvg && svgUrl.test(url)) return url
    return url[0] === '(' ? '(data:,' : '"data:,"'
  })
}

/** A page that was opened with a password in its address hands it on to all addresses in it, which rrweb makes absolute. */
function withoutPasswords(text: string): string {
  return text.replace(/:\/\/[^\s/?#"{};]*@/g, '://')
}
