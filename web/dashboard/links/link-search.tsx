/** The search of tracked links by label, key and destination. */
import type { ComponentChildren } from 'preact'
import { useSearchField } from '../parts/search-field.ts'
import { addressWith } from '../shell/address-with.ts'

/** Empty: all links. */
export function soughtLinks(search: string): string {
  return new URLSearchParams(search).get('q') ?? ''
}

interface SearchProps {
  /** The address's query. */
  readonly search: string
  /** Stands beside the field. */
  readonly children: ComponentChildren
}

export function LinkSearch({ search, children }: SearchProps) {
  const sought = soughtLinks(search)
  const [field, type] = useSearchField(sought, (text) => addressWith(location.search, 'q', text || undefined))
  return (
    <div class="controls">
      <input
        ref={field}
        type="search"
        aria-label="Search links"
        defaultValue={sought}
        placeholder="Label, key, destination"
        onInput={(event) => type(event.currentTarget.value)}
      />
      {children}
    </div>
  )
}
