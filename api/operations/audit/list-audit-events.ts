import { z } from 'zod'
import { listAuditEvents } from '../../../postgres/tables/workspaces/audit.ts'
import { laxInt } from '../../../schemas/lax.ts'
import { auditActionLengthMax } from '../../../schemas/limits/api-limits.ts'
import { AuditEventResource, actorTypes } from '../../../schemas/resources/audit-event.ts'
import { pageQuery } from '../../../schemas/resources/page.ts'
import { defineOperation } from '../define.ts'

export const listAudit = defineOperation({
  name: 'audit_event.list',
  http: { method: 'GET', path: '/v1/audit-log' },
  tool: 'svc.list_audit_events',
  summary: 'List what was changed and by whom, newest first.',
  description: 'Each row holds the hash of the one before.',
  tag: 'Audit',
  effect: 'read',
  scope: 'audit:read',
  input: {
    query: z.object({
      ...pageQuery('audit_event').shape,
      action: z.string().max(auditActionLengthMax).optional().meta({ description: 'As `post.create`.' }),
      actor_id: laxInt({ ge: 1, le: Number.MAX_SAFE_INTEGER, description: 'What this key or user did.' }),
      actor_type: z.enum(actorTypes).optional().meta({ description: 'Of which kind `actor_id` is.' }),
    }),
  },
  output: z.array(AuditEventResource),
  async handle({ query: { limit, before_id, action, actor_id, actor_type }, workspace, stores: { pg } }) {
    const events = await listAuditEvents(pg, workspace.id, {
      limit,
      beforeId: before_id,
      action,
      actorId: actor_id,
      actorType: actor_type,
    })
    return events.map((event) => ({
      ...event,
      object_id: `audit_event_${event.id}`,
      created_at: event.created_at.toISOString(),
    }))
  },
})
