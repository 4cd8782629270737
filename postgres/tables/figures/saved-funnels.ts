/** Funnels under a name. Held by test/integration/saved-items.test.ts. */
import { type NamedRow, namedRows } from '../named-rows.ts'

export interface StoredFunnel extends NamedRow {
  /** As a query has them, and `within` too. */
  readonly steps: string[]
  readonly within: string
}

export const funnelRows = namedRows<StoredFunnel>('saved_funnels', {
  columns: 'id, name, steps, within, created_at',
  order: 'lower(name), id',
  values: ({ name, steps, within }) => ({ name, steps, within }),
})
