/** Filters under a name. Held by test/integration/saved-items.test.ts. */
import type { FilterName } from '../../../schemas/reference/filter-names.ts'
import { type NamedRow, namedRows } from '../named-rows.ts'

export interface StoredSegment extends NamedRow {
  /** As a query has them. */
  readonly filters: Partial<Record<FilterName, string[] | undefined>>
}

export const segmentRows = namedRows<StoredSegment>('segments', {
  columns: 'id, name, filters, created_at',
  order: 'lower(name), id',
  values: ({ name, filters }) => ({ name, filters: JSON.stringify(filters) }),
})
