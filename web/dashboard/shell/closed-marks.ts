/**
 * `<bdi>` keeps marks that turn the direction of writing within it, if the text closes the isolates that it opens. One
 * that stays open takes the mark that ends the `<bdi>`, and one mark too many ends it early. Both let a stored text
 * turn the words beside it.
 */
import { type ComponentChild, options, type VNode } from 'preact'
import { closedText } from './closed-text.ts'

/** From now on each text in a `<bdi>` closes its own isolates, and no others. */
export function closeMarks(): void {
  const before = options.vnode
  options.vnode = (node) => {
    if (isBdi(node)) node.props.children = [node.props.children].flat().map(closed)
    before?.(node)
  }
}

function isBdi(node: VNode): node is VNode<{ children?: ComponentChild | ComponentChild[] }> {
  return node.type === 'bdi'
}

function closed(child: ComponentChild): ComponentChild {
  return typeof child === 'string' ? closedText(child) : child
}
