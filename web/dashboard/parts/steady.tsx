/** A part of the page that may come late, when what stands below it is in use by then. */
import { Component, type ComponentChildren, type RefObject } from 'preact'

interface SteadyProps {
  /** Its answer isn't there yet. */
  readonly isComing: boolean | undefined
  /** The element of the part. */
  readonly place: RefObject<Element | null>
  readonly children: ComponentChildren
}

interface Used {
  readonly element: Element
  /** Pixels below the top of the screen. */
  readonly top: number
}

/** Whatever is pointed at below it, or has the focus there, keeps its place on the screen as it comes. A hook is too late to see where that was. */
export class Steady extends Component<SteadyProps> {
  override getSnapshotBeforeUpdate({ isComing: wasComing }: SteadyProps): Used | null {
    const own = this.props.place.current
    if (!wasComing || this.props.isComing || own === null) return null
    const inUse = [document.activeElement, ...document.querySelectorAll(':hover')]
    const isBelow = (one: Element | null) => one && own.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING
    const element = inUse.findLast(isBelow)
    return element ? { element, top: element.getBoundingClientRect().top } : null
  }

  override componentDidUpdate(_before: SteadyProps, _state: object, used: Used | null): void {
    if (used) scrollBy({ top: used.element.getBoundingClientRect().top - used.top, behavior: 'instant' })
  }

  override render() {
    return this.props.children
  }
}
