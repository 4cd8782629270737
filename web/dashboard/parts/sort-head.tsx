/** The head of a column that a table is sorted by at a click: falling first, and rising at the next one. */
interface SortHeadProps {
  readonly label: string
  /** Undefined: the table is sorted by another one. */
  readonly isRising: boolean | undefined
  sort(isRising: boolean): void
}

export function SortHead({ label, isRising, sort }: SortHeadProps) {
  const isSorted = isRising !== undefined
  return (
    <th scope="col" aria-sort={isSorted ? (isRising ? 'ascending' : 'descending') : undefined}>
      <button type="button" class="link" onClick={() => sort(isSorted && !isRising)}>
        {label} {isSorted ? (isRising ? '▲' : '▼') : ''}
      </button>
    </th>
  )
}
