/** The element that a click counts for, and its name in a list. */
import {
  classesLookedAtMax,
  elementNameMax,
  elementNodesMax,
  elementTextMax,
  parentsLookedAtMax,
  selectorPartsMax,
  siblingsCountedMax,
} from '../../../schemas/limits/click-map-limits.ts'
import type { PageNode } from './recorded-page.ts'

export interface ClickedElement {
  readonly selector: string
  readonly text: string
  /** False for fields, which take the focus, and for links, which may open another tab. */
  readonly mayBeDead: boolean
}

const fields = ['label', 'select', 'option', 'input', 'textarea']
const controls = ['a', 'button', 'summary', ...fields]
const controlRoles = ['button', 'link', 'tab', 'menuitem', 'option', 'checkbox', 'radio', 'switch']
const neverDead = [...fields, 'video', 'audio', 'iframe', 'canvas', 'html', 'body']

export function clickedElementOf(node: PageNode): ClickedElement | undefined {
  const clicked = controlAround(node) ?? elementAround(node)
  if (clicked === undefined) return undefined
  return { selector: selectorOf(clicked), text: textWithin(clicked), mayBeDead: mayBeDead(clicked) }
}

/** The link, button or field that has the node in it. */
function controlAround(node: PageNode): PageNode | undefined {
  let at: PageNode | undefined = node
  for (let looked = 0; at !== undefined && looked < parentsLookedAtMax; looked++) {
    const { tag, attributes, parent }: PageNode = at
    if (controls.includes(tag) || controlRoles.includes(attributes.role ?? '')) return at
    at = parent
  }
  return undefined
}

function elementAround(node: PageNode): PageNode | undefined {
  return node.tag === '' ? (node.parent?.tag ? node.parent : undefined) : node
}

function mayBeDead({ tag, attributes: { href = '' } }: PageNode): boolean {
  if (tag === 'a') return /^(#.*|javascript:.*)?$/i.test(href.trim())
  return !neverDead.includes(tag)
}

/** From the nearest parent with a lasting id on, in few parts. */
function selectorOf(node: PageNode): string {
  const parts: string[] = []
  let at: PageNode | undefined = node
  while (at !== undefined && at.tag !== '' && parts.length < selectorPartsMax) {
    const id = at.attributes.id ?? ''
    if (isLasting(id)) {
      parts.unshift(`${at.tag}#${id}`)
      break
    }
    parts.unshift(at.tag + classesOf(at) + placeOf(at))
    if (at.tag === 'body') break
    at = at.parent
  }
  return parts.join(' > ')
}

function classesOf({ attributes }: PageNode): string {
  const names = (attributes.class ?? '').trim().split(/\s+/, classesLookedAtMax).filter(isLasting)
  return names
    .slice(0, classesMax)
    .map((name) => `.${name}`)
    .join('')
}
const classesMax = 2

/** Names that a build or a framework makes change with each release: they have digits in the middle of letters, or many. */
function isLasting(name: string): boolean {
  return (
    name.length <= elementNameMax &&
    /^[a-z][\w-]*$/i.test(name) &&
    !/\d{3}|[a-z]\d+[a-z]|\d[a-z]+\d|^(css|jsx|sc|emotion)-/i.test(name)
  )
}

/** Which of several siblings with its tag; nothing for an only one. */
function placeOf(node: PageNode): string {
  let before = 0
  let looked = 0
  for (let at = node.previous; at !== undefined; at = at.previous) {
    if (++looked > siblingsCountedMax) return ''
    if (at.tag === node.tag) before++
  }
  if (before > 0) return `:nth-of-type(${before + 1})`
  for (let at = node.next; at !== undefined; at = at.next) {
    if (++looked > siblingsCountedMax) return ''
    if (at.tag === node.tag) return ':nth-of-type(1)'
  }
  return ''
}

function textWithin(node: PageNode): string {
  const open: PageNode[] = [node]
  const words: string[] = []
  let length = 0
  for (let looked = 0; looked < elementNodesMax && length < elementTextMax; looked++) {
    const at = open.pop()
    if (at === undefined) break
    if (at.text !== '') {
      words.push(at.text)
      length += at.text.length + 1
    }
    // The first child comes next, and then what stands behind this one.
    if (at !== node && at.next !== undefined) open.push(at.next)
    if (at.first !== undefined && at.tag !== 'style' && at.tag !== 'script') open.push(at.first)
  }
  return words.join(' ').replace(/\s+/g, ' ').slice(0, elementTextMax)
}
