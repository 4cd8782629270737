/** Filters under a name. */
import { z } from 'zod'
import {
  deleteSegment,
  holdSegment,
  insertSegment,
  listSegments,
  type StoredSegment,
  updateSegment,
} from '../../../postgres/tables/segments.ts'
import { holdWorkspace } from '../../../postgres/tables/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { segmentsMax } from '../../../schemas/limits/segment-limits.ts'
import { Segment, SegmentCreate, SegmentUpdate } from '../../../schemas/resources/segment.ts'
import { defineOperation } from '../define.ts'

export const listOwnSegments = defineOperation({
  name: 'segment.list',
  http: { method: 'GET', path: '/v1/segments' },
  tool: 'svc.list_segments',
  toolset: 'analytics',
  summary: 'List the saved filters by their names.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  isShared: true,
  input: {},
  output: z.array(Segment),
  handle: async ({ workspace, stores: { pg } }) => (await listSegments(pg, workspace.id)).map(serialize),
})

export const createSegment = defineOperation({
  name: 'segment.create',
  http: { method: 'POST', path: '/v1/segments' },
  tool: 'svc.create_segment',
  toolset: 'analytics',
  summary: 'Save filters under a name.',
  tag: 'Analytics',
  effect: 'create',
  scope: 'analytics:write',
  input: { body: SegmentCreate },
  output: Segment,
  problems: ['segments_full', 'segment_known'],
  async handle({ body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    if ((await listSegments(pg, workspace.id)).length >= segmentsMax) throw problem('segments_full')
    const segment = await insertSegment(pg, workspace.id, body)
    if (segment === null) throw problem('segment_known')
    return serialize(segment)
  },
})

export const changeSegment = defineOperation({
  name: 'segment.update',
  http: { method: 'PATCH', path: '/v1/segments/{segment_id}' },
  tool: 'svc.update_segment',
  toolset: 'analytics',
  summary: 'Change the name of saved filters, or the filters. Fields that are left out stay.',
  description: '`filters` replaces all of them.',
  tag: 'Analytics',
  effect: 'update',
  scope: 'analytics:write',
  input: { path: z.object({ segment_id: idInPath('segment') }), body: SegmentUpdate },
  output: Segment,
  problems: ['segment_not_found', 'segment_known'],
  async handle({ path: { segment_id }, body, workspace, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    const before = await holdSegment(pg, workspace.id, segment_id)
    if (before === null) throw problem('segment_not_found')
    const { name = before.name, filters = before.filters } = body
    const segment = await updateSegment(pg, workspace.id, { id: segment_id, name, filters })
    if (segment === null) throw problem('segment_known')
    return serialize(segment)
  },
})

export const removeSegment = defineOperation({
  name: 'segment.delete',
  http: { method: 'DELETE', path: '/v1/segments/{segment_id}' },
  tool: 'svc.delete_segment',
  toolset: 'analytics',
  summary: 'Delete saved filters.',
  tag: 'Analytics',
  effect: 'delete',
  scope: 'analytics:write',
  input: { path: z.object({ segment_id: idInPath('segment') }) },
  output: Segment,
  problems: ['segment_not_found'],
  async handle({ path: { segment_id }, workspace, stores: { pg } }) {
    const segment = await deleteSegment(pg, workspace.id, segment_id)
    if (segment === null) throw problem('segment_not_found')
    return serialize(segment)
  },
})

function serialize({ created_at, ...segment }: StoredSegment): z.output<typeof Segment> {
  return { ...segment, object_id: `segment_${segment.id}`, created_at: created_at.toISOString() }
}
