/** A dialog over the page, by the browser's own element: it holds the focus, and Escape closes it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  close(): void
}

export function Dialog({ title, children, close }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    place.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={place} aria-label={title} onClose={close}>
      <div class="tabs">
        <h2>{title}</h2>
        <button type="button" onClick={() => place.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  )
}
