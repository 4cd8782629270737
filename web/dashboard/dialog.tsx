/** A dialog over the page, by the browser's own element: it holds the focus, and Escape closes it. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  close(): void
}

export function Dialog({ title, children, close }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  // Before what is inside looks for the focus.
  useLayoutEffect(() => {
    const before = document.activeElement
    place.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={place} aria-label={title} onClose={close}>
      <div class="tabs">
        <h2>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" onClick={() => place.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  )
}
