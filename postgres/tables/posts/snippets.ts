/** Snippets of a workspace: saved texts. Held by test/integration/saved-items.test.ts. */
import { type NamedRow, namedRows } from '../named-rows.ts'

export interface StoredSnippet extends NamedRow {
  readonly text: string
}

export const snippetRows = namedRows<StoredSnippet>('snippets', {
  columns: 'id, name, text, created_at',
  order: 'lower(name), id',
  values: ({ name, text }) => ({ name, text }),
})
