/**
 * The nodes of a recorded page, as a full snapshot and the changes after it tell of them. Anybody who knows a public key can
 * send a recording: ids may be odd, repeated or missing, and nothing in one makes this throw. A node is new whenever it is
 * added, and its parent was there before: no chain of parents is a circle. Siblings are linked, so that each change takes
 * the same time however many there are.
 */

import { isObject } from '../../../schemas/json-object.ts'
import { elementTextMax } from '../../../schemas/limits/click-map-limits.ts'
import { listOf, textOf } from './recorded-event.ts'

export interface PageNode {
  /** In small letters; empty for the document and for texts. */
  readonly tag: string
  /** Empty but for texts. */
  text: string
  readonly attributes: Attributes
  parent: PageNode | undefined
  previous: PageNode | undefined
  next: PageNode | undefined
  first: PageNode | undefined
  last: PageNode | undefined
}

const keptAttributes = ['id', 'class', 'role', 'href'] as const
type Attributes = Partial<Record<(typeof keptAttributes)[number], string>>

const document = 0
const element = 2
const text = 3

export class RecordedPage {
  private readonly nodes = new Map<unknown, PageNode>()
  /** Whose scrolling is the page's. */
  documentId: unknown

  at(id: unknown): PageNode | undefined {
    return this.nodes.get(id)
  }

  /** @param root of a full snapshot */
  begin(root: unknown): void {
    this.nodes.clear()
    this.documentId = isObject(root) ? root['id'] : undefined
    this.add(root, undefined, undefined)
  }

  /** @param change of rrweb's source `Mutation` */
  change(change: Readonly<Record<string, unknown>>): void {
    // The document of a frame: its places aren't the page's.
    if (change['isAttachIframe']) return
    for (const removed of listOf(change['removes'])) if (isObject(removed)) this.unlink(removed['id'])
    this.addAll(listOf(change['adds']))
    for (const changed of listOf(change['texts'])) {
      const node = isObject(changed) ? this.nodes.get(changed['id']) : undefined
      if (node?.tag === '' && node.parent !== undefined) node.text = shortText((changed as { value?: unknown }).value)
    }
    for (const changed of listOf(change['attributes'])) {
      const node = isObject(changed) ? this.nodes.get(changed['id']) : undefined
      if (node !== undefined) takeAttributes(node.attributes, (changed as { attributes?: unknown }).attributes)
    }
  }

  /** A parent may come behind its children in the list. */
  private addAll(adds: readonly unknown[]): void {
    const waiting = new Map<unknown, Readonly<Record<string, unknown>>[]>()
    for (const added of adds) {
      if (!isObject(added)) continue
      const open = [added]
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        const parent = this.nodes.get(next['parentId'])
        if (parent === undefined) {
          const those = waiting.get(next['parentId']) ?? []
          if (those.length < siblingsWaitingMax) those.push(next)
          waiting.set(next['parentId'], those)
          continue
        }
        this.add(next['node'], parent, this.nodes.get(next['nextId']))
        const id = isObject(next['node']) ? next['node']['id'] : undefined
        open.push(...(waiting.get(id) ?? []).reverse())
        waiting.delete(id)
      }
    }
  }

  private add(root: unknown, parent: PageNode | undefined, before: PageNode | undefined): void {
    const open: (readonly [unknown, PageNode | undefined, PageNode | undefined])[] = [[root, parent, before]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [given, under, behind] = next
      if (!isObject(given)) continue
      const { type, id, tagName, attributes, textContent, childNodes } = given
      if (type !== document && type !== element && type !== text) continue
      const isElement = type === element
      const node = makeNode(isElement ? tagOf(tagName) : '', type === text ? shortText(textContent) : '', under)
      if (isElement) takeAttributes(node.attributes, attributes)
      this.unlink(id)
      this.nodes.set(id, node)
      link(node, behind)
      const children = listOf(childNodes)
      // The last is taken first, and stands behind those that follow.
      for (let at = 0; at < children.length; at++) open.push([children[children.length - 1 - at], node, undefined])
    }
  }

  private unlink(id: unknown): void {
    const node = this.nodes.get(id)
    if (node === undefined) return
    const { parent, previous, next } = node
    if (previous !== undefined) previous.next = next
    else if (parent?.first === node) parent.first = next
    if (next !== undefined) next.previous = previous
    else if (parent?.last === node) parent.last = previous
    node.parent = undefined
    node.previous = undefined
    node.next = undefined
    this.nodes.delete(id)
  }
}

/** All members at once: pages have hundreds of thousands of nodes. */
function makeNode(tag: string, text: string, parent: PageNode | undefined): PageNode {
  return {
    tag,
    text,
    attributes: {},
    parent,
    previous: undefined,
    next: undefined,
    first: undefined,
    last: undefined,
  }
}

/** Changes whose parent isn't known yet, of one parent. */
const siblingsWaitingMax = 1_000
const tagPattern = /^[a-z][\w-]{0,39}$/

function tagOf(name: unknown): string {
  const tag = textOf(name).toLowerCase()
  return tagPattern.test(tag) ? tag : 'unknown'
}

function shortText(value: unknown): string {
  return textOf(value).trim().slice(0, elementTextMax)
}

function takeAttributes(attributes: Attributes, given: unknown): void {
  if (!isObject(given)) return
  for (const name of keptAttributes) {
    if (!Object.hasOwn(given, name)) continue
    const value = given[name]
    if (typeof value === 'string') attributes[name] = value.slice(0, attributeMax)
    else delete attributes[name]
  }
}
const attributeMax = 500

/** As the last child of its parent, or before a sibling. */
function link(node: PageNode, before: PageNode | undefined): void {
  const { parent } = node
  if (parent === undefined) return
  const sibling = before?.parent === parent ? before : undefined
  node.next = sibling
  node.previous = sibling === undefined ? parent.last : sibling.previous
  if (node.previous === undefined) parent.first = node
  else node.previous.next = node
  if (sibling === undefined) parent.last = node
  else sibling.previous = node
}
