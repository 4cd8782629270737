import type { ComponentChildren } from 'preact'
import { addressOf } from '../shell/shared-page.ts'

interface PageLinkProps {
  readonly path: string
  readonly isCurrent?: boolean
  readonly children: ComponentChildren
  navigate(path: string): void
}

/** A link to a page of the dashboard, which is shown without loading anew; with a key held, in another tab or window. */
export function PageLink({ path, isCurrent = false, navigate, children }: PageLinkProps) {
  return (
    <a
      href={addressOf(path)}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => {
        if (opensElsewhere(event)) return
        event.preventDefault()
        navigate(path)
      }}
    >
      {children}
    </a>
  )
}

/** Whether the browser opens the clicked link in another tab or window. */
export function opensElsewhere({ metaKey, ctrlKey, shiftKey }: MouseEvent): boolean {
  return metaKey || ctrlKey || shiftKey
}
