import type { ComponentChildren } from 'preact'

interface PublishedLinkProps {
  readonly url: string | undefined
  readonly label?: string
  /** Stands there where publishing was simulated, since that address leads nowhere. */
  readonly simulated?: ComponentChildren
  readonly children: ComponentChildren
}

/** Leads to what a platform has published. Nothing without a web address: a platform's word is no reason to run a script. */
export function PublishedLink({ url, label, simulated = null, children }: PublishedLinkProps) {
  if (url === undefined || !/^https?:\/\//.test(url)) return null
  if (url.startsWith('https://simulated.invalid/')) return <>{simulated}</>
  return (
    <a href={url} target="_blank" rel="noreferrer" aria-label={label}>
      {children}
    </a>
  )
}
