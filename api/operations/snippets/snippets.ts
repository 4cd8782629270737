/** Snippets, which people put into captions. */
import { z } from 'zod'
import {
  deleteSnippet,
  holdSnippet,
  insertSnippet,
  listSnippets,
  type StoredSnippet,
  updateSnippet,
} from '../../../postgres/tables/snippets.ts'
import { holdWorkspace } from '../../../postgres/tables/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { snippetsMax } from '../../../schemas/limits/snippet-limits.ts'
import { Snippet, SnippetCreate, SnippetUpdate } from '../../../schemas/resources/snippet.ts'
import { defineOperation } from '../define.ts'

export const listOwnSnippets = defineOperation({
  name: 'snippet.list',
  http: { method: 'GET', path: '/v1/snippets' },
  tool: 'svc.list_snippets',
  toolset: 'publishing',
  summary: 'List the snippets (saved texts) by their names.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: {},
  output: z.array(Snippet),
  handle: async ({ workspace, stores: { pg } }) => (await listSnippets(pg, workspace.id)).map(serialize),
})

export const createSnippet = defineOperation({
  name: 'snippet.create',
  http: { method: 'POST', path: '/v1/snippets' },
  tool: 'svc.create_snippet',
  toolset: 'publishing',
  summary: 'Save a text for captions under a name, such as a group of hashtags.',
  tag: 'Posts',
  effect: 'create',
  scope: 'posts:write',
  input: { body: SnippetCreate },
  output: Snippet,
  problems: ['snippets_full', 'snippet_known'],
  async handle({ body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    if ((await listSnippets(pg, workspace.id)).length >= snippetsMax) throw problem('snippets_full')
    const snippet = await insertSnippet(pg, workspace.id, body)
    if (snippet === null) throw problem('snippet_known')
    return serialize(snippet)
  },
})

export const changeSnippet = defineOperation({
  name: 'snippet.update',
  http: { method: 'PATCH', path: '/v1/snippets/{snippet_id}' },
  tool: 'svc.update_snippet',
  toolset: 'publishing',
  summary: 'Change a snippet. Fields that are left out stay.',
  description: 'Posts keep what was put into them.',
  tag: 'Posts',
  effect: 'update',
  scope: 'posts:write',
  input: { path: z.object({ snippet_id: idInPath('snippet') }), body: SnippetUpdate },
  output: Snippet,
  problems: ['snippet_not_found', 'snippet_known'],
  async handle({ path: { snippet_id }, body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    const before = await holdSnippet(pg, workspace.id, snippet_id)
    if (before === null) throw problem('snippet_not_found')
    const { name = before.name, text = before.text } = body
    const snippet = await updateSnippet(pg, workspace.id, { id: snippet_id, name, text })
    if (snippet === null) throw problem('snippet_known')
    return serialize(snippet)
  },
})

export const removeSnippet = defineOperation({
  name: 'snippet.delete',
  http: { method: 'DELETE', path: '/v1/snippets/{snippet_id}' },
  tool: 'svc.delete_snippet',
  toolset: 'publishing',
  summary: 'Delete a snippet.',
  tag: 'Posts',
  effect: 'delete',
  scope: 'posts:write',
  input: { path: z.object({ snippet_id: idInPath('snippet') }) },
  output: Snippet,
  problems: ['snippet_not_found'],
  async handle({ path: { snippet_id }, workspace, stores: { pg } }) {
    const snippet = await deleteSnippet(pg, workspace.id, snippet_id)
    if (snippet === null) throw problem('snippet_not_found')
    return serialize(snippet)
  },
})

function serialize({ created_at, ...snippet }: StoredSnippet): z.output<typeof Snippet> {
  return { ...snippet, object_id: `snippet_${snippet.id}`, created_at: created_at.toISOString() }
}
