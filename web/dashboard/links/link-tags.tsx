/** Tags of tracked links: their field in forms, and chips that choose the links with one. */
import { addressWith } from '../shell/address-with.ts'

interface TagProps {
  /** The address's query, which has the chosen tag. */
  readonly search: string
  navigate(path: string): void
}

/** Undefined: links with any tags, or none. */
export function chosenTag(search: string): string | undefined {
  return new URLSearchParams(search).get('tag') || undefined
}

export function TagChips({ tags, search, navigate }: TagProps & { readonly tags: readonly string[] }) {
  if (tags.length === 0) return null
  return (
    <ul class="chips" aria-label="Tags">
      {tags.map((tag) => (
        <li key={tag}>
          <button
            type="button"
            title="Only links with this tag"
            onClick={() => navigate(addressWith(search, 'tag', tag))}
          >
            <bdi>{`#${tag}`}</bdi>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The chosen tag, until it is removed. */
export function ChosenTag({ search, navigate }: TagProps) {
  const tag = chosenTag(search)
  if (tag === undefined) return null
  return (
    <div class="controls">
      <button type="button" title="Links with any tags" onClick={() => navigate(addressWith(search, 'tag', undefined))}>
        <bdi>{`#${tag}`}</bdi> ×
      </button>
    </div>
  )
}

export function TagField({ of = [] }: { readonly of?: readonly string[] }) {
  return (
    <label>
      Tags, with commas between them <input name="tags" defaultValue={of.join(', ')} />
    </label>
  )
}

export function tagsOf(text: string): string[] {
  return text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}
