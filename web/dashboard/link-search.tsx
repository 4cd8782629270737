/** The search of tracked links by label, key and destination. */
import { addressWith } from './parts.tsx'
import { useSearchField } from './search-field.ts'

/** Empty: all links. */
export function soughtLinks(search: string): string {
  return new URLSearchParams(search).get('q') ?? ''
}

/** @param search the address's query */
export function LinkSearch({ search }: { readonly search: string }) {
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
    </div>
  )
}
