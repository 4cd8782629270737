/** The operations of what a workspace has under names of its own: listed, made, changed, deleted. */
import { z } from 'zod'
import type { Chosen, NamedRow, NamedRows } from '../../postgres/tables/named-rows.ts'
import { lockWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { idInPath } from '../../schemas/lax.ts'
import { type Scope, viewScope } from '../../schemas/scopes.ts'
import { defineOperation, type Operation } from './define.ts'
import type { Toolset } from './toolsets.ts'

interface Items<Row extends NamedRow> extends Pick<Operation, 'tag' | 'isShared'> {
  /** As audit rows and problems name one. */
  readonly noun: 'goal' | 'saved_funnel' | 'segment' | 'snippet'
  /** As paths, tools and object ids name one. */
  readonly word: 'goal' | 'funnel' | 'segment' | 'snippet'
  readonly toolset: Toolset
  readonly reads: Scope
  readonly writes: Scope
  readonly rows: NamedRows<Row>
  /** How many a workspace may have. */
  readonly max: number
  readonly schemas: { readonly one: z.ZodObject; readonly create: z.ZodObject; readonly update: z.ZodObject }
  readonly list: Pick<Operation, 'summary'>
  readonly create: Pick<Operation, 'summary' | 'description'>
  readonly update: Pick<Operation, 'summary' | 'description'>
  readonly delete: Pick<Operation, 'summary'>
  /** Whether shared links don't list it. */
  isHiddenFromLinks?(row: Row): boolean
  /** As it is stored. @param sent the fields that the request has @throws Problem 422 */
  normalize?(row: Chosen<Row>, sent: Partial<Chosen<Row>>): Chosen<Row>
}

/** The four of them, in the order of the registry. */
export function namedItems<Row extends NamedRow>(items: Items<Row>): readonly Operation[] {
  const { noun, word, rows, max, tag, toolset, reads, writes, isShared, schemas, normalize = (row) => row } = items
  const path = z.object({ [`${word}_id`]: idInPath(word) })
  const shared = { tag, toolset, output: schemas.one } as const
  const all = `/v1/${word}s` as const
  const one = `${all}/{${word}_id}` as const
  const serialize = ({ created_at, ...row }: Row) => ({
    ...row,
    object_id: `${word}_${row.id}`,
    created_at: created_at.toISOString(),
  })
  return [
    defineOperation({
      ...shared,
      ...items.list,
      ...(isShared && { isShared }),
      output: z.array(schemas.one),
      name: `${noun}.list`,
      http: { method: 'GET', path: all },
      tool: `svc.list_${word}s`,
      effect: 'read',
      scope: reads,
      input: {},
      async handle({ workspace, scopes, stores: { pg } }) {
        const all = await rows.list(pg, workspace.id)
        const isHidden = (row: Row) => scopes.includes(viewScope) && items.isHiddenFromLinks?.(row)
        return all.filter((row) => !isHidden(row)).map(serialize)
      },
    }),
    defineOperation({
      ...shared,
      ...items.create,
      name: `${noun}.create`,
      http: { method: 'POST', path: all },
      tool: `svc.create_${word}`,
      effect: 'create',
      scope: writes,
      input: { body: schemas.create },
      problems: [`${noun}s_full`, `${noun}_known`],
      async handle({ body, workspace, stores: { pg } }) {
        const chosen = body as Chosen<Row>
        const row = normalize(chosen, chosen)
        await lockWorkspace(pg, workspace.id)
        if ((await rows.list(pg, workspace.id)).length >= max) throw problem(`${noun}s_full`)
        const made = await rows.insert(pg, workspace.id, row)
        if (made === null) throw problem(`${noun}_known`)
        return serialize(made)
      },
    }),
    defineOperation({
      ...shared,
      ...items.update,
      name: `${noun}.update`,
      http: { method: 'PATCH', path: one },
      tool: `svc.update_${word}`,
      effect: 'update',
      scope: writes,
      input: { path, body: schemas.update },
      problems: [`${noun}_not_found`, `${noun}_known`],
      async handle({ path, body, workspace, stores: { pg } }) {
        const id = path[`${word}_id`]!
        await lockWorkspace(pg, workspace.id)
        const before = await rows.lock(pg, workspace.id, id)
        if (before === null) throw problem(`${noun}_not_found`)
        const sent = body as Partial<Chosen<Row>>
        const changed = await rows.update(pg, workspace.id, id, normalize({ ...before, ...sent }, sent))
        if (changed === null) throw problem(`${noun}_known`)
        return serialize(changed)
      },
    }),
    defineOperation({
      ...shared,
      ...items.delete,
      name: `${noun}.delete`,
      http: { method: 'DELETE', path: one },
      tool: `svc.delete_${word}`,
      effect: 'delete',
      scope: writes,
      input: { path },
      problems: [`${noun}_not_found`],
      async handle({ path, workspace, stores: { pg } }) {
        const gone = await rows.remove(pg, workspace.id, path[`${word}_id`]!)
        if (gone === null) throw problem(`${noun}_not_found`)
        return serialize(gone)
      },
    }),
  ]
}
