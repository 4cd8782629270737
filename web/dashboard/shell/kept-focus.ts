/**
 * A button that is off for a time is `aria-disabled`: a browser takes the focus from one that is disabled. Its clicks, and
 * the form that one would send, go nowhere.
 */
export function blockDisabledClicks(): void {
  const hold = (event: MouseEvent) => {
    if (!(event.target instanceof Element) || event.target.closest('[aria-disabled="true"]') === null) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  addEventListener('click', hold, { capture: true })
}

/** Moves the focus to what the page is about, past its links. */
export function focusMain(): void {
  const main = document.querySelector('main')
  if (main) take(main)
}

/**
 * An element that goes while it has the focus hands it to its neighbour, so that who works by keys goes on from there.
 * The neighbour takes it for once, and acts on no key by it unless it is a control of its own.
 */
export function keepFocus(): void {
  let last: Element | undefined
  addEventListener('focusin', ({ target }) => {
    last = target as Element
  })
  new MutationObserver((records) => {
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return
    const gone = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(last!)))
    const isNear = (node: Node | null | undefined) =>
      (node instanceof HTMLElement || node instanceof SVGAElement) &&
      node.isConnected &&
      node.closest('main, dialog') !== null
    // Where the whole page went, the next one has it.
    const near = [gone?.nextSibling, gone?.previousSibling, gone?.target].find(isNear) ?? document.querySelector('main')
    if (near) take(near as HTMLElement | SVGAElement)
  }).observe(document.body, { childList: true, subtree: true })
}

function take(place: HTMLElement | SVGAElement): void {
  if (place.tabIndex < 0) {
    place.tabIndex = -1
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true })
  }
  place.focus({ preventScroll: true })
}
