/** How many names something has, and on request which: a tooltip serves neither fingers nor keys. */

interface CountedNamesProps {
  readonly names: readonly string[]
  /** The word for one of them; more of them have an s behind it. */
  readonly word: 'scope' | 'event'
  /** Whose they are. */
  readonly of: string
  /** Behind the number. */
  readonly besides?: string
}

export function CountedNames({ names, word, of, besides = '' }: CountedNamesProps) {
  return (
    <details class="label">
      <summary>
        {names.length} {names.length === 1 ? word : `${word}s`}
        {besides}
        <span class="unseen">
          {' '}
          of <bdi>{of}</bdi>
        </span>
      </summary>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  )
}
