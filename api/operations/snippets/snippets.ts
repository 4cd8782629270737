/** Snippets, which people put into captions. */
import { snippetRows } from '../../../postgres/tables/posts/snippets.ts'
import { snippetsMax } from '../../../schemas/limits/snippet-limits.ts'
import { Snippet, SnippetCreate, SnippetUpdate } from '../../../schemas/resources/snippet.ts'
import { namedItems } from '../named-items.ts'

export const snippetOperations = namedItems({
  noun: 'snippet',
  word: 'snippet',
  tag: 'Posts',
  toolset: 'publishing',
  reads: 'posts:read',
  writes: 'posts:write',
  rows: snippetRows,
  max: snippetsMax,
  schemas: { one: Snippet, create: SnippetCreate, update: SnippetUpdate },
  list: { summary: 'List the snippets (saved texts) by their names.' },
  create: {
    summary: 'Save a text for captions under a name, such as a group of hashtags.',
  },
  update: {
    summary: 'Change a snippet. Fields that are left out stay.',
    description: 'Posts keep what was put into them.',
  },
  delete: { summary: 'Delete a snippet.' },
})
