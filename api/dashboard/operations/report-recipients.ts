/** Recipients of reports by e-mail: listed, added and removed by the owner in the dashboard. No key reaches them. */
import { z } from 'zod'
import {
  deleteReportRecipient,
  insertReportRecipient,
  listReportRecipients,
} from '../../../postgres/tables/report-recipients.ts'
import { holdWorkspace } from '../../../postgres/tables/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { reportRecipientsMax } from '../../../schemas/limits/report-limits.ts'
import { ReportRecipientCreate, ReportRecipients } from '../../../schemas/resources/report-recipient.ts'
import { defineOperation } from '../../operations/define.ts'

const RecipientId = z.object({ id: z.int() })

const listRecipients = defineOperation({
  name: 'report_recipient.list',
  http: { method: 'GET', path: '/v1/report-recipients' },
  summary: 'List who gets reports by e-mail, and whether mail is set up.',
  tag: 'Workspace',
  effect: 'read',
  scope: 'workspace:read',
  input: {},
  output: ReportRecipients,
  async handle({ workspace, config, stores: { pg } }) {
    const recipients = await listReportRecipients(pg, workspace.id)
    return {
      recipients: recipients.map(({ created_at, sent_at, ...recipient }) => ({
        ...recipient,
        created_at: created_at.toISOString(),
        sent_at: sent_at?.toISOString() ?? null,
      })),
      is_mail_set_up: config.isMailSetUp,
    }
  },
})

const addRecipient = defineOperation({
  name: 'report_recipient.create',
  http: { method: 'POST', path: '/v1/report-recipients' },
  summary: 'Add a recipient of weekly or monthly reports.',
  tag: 'Workspace',
  effect: 'create',
  scope: 'workspace:read',
  input: { body: ReportRecipientCreate },
  // Answers are kept for retries: this one has no address.
  output: RecipientId,
  problems: ['report_recipients_full', 'report_recipient_known'],
  async handle({ body: { email, every }, workspace, clock, stores: { pg } }) {
    await holdWorkspace(pg, workspace.id)
    const there = await listReportRecipients(pg, workspace.id)
    if (there.length >= reportRecipientsMax) throw problem('report_recipients_full')
    const id = await insertReportRecipient(pg, {
      ...{ workspaceId: workspace.id, email: email.toLowerCase(), every, createdAt: new Date(clock.now()) },
    })
    if (id === null) throw problem('report_recipient_known')
    return { id }
  },
})

const removeRecipient = defineOperation({
  name: 'report_recipient.delete',
  http: { method: 'DELETE', path: '/v1/report-recipients/{recipient_id}' },
  summary: 'Remove a recipient of reports.',
  tag: 'Workspace',
  effect: 'delete',
  scope: 'workspace:read',
  input: { path: z.object({ recipient_id: idInPath('recipient') }) },
  output: RecipientId,
  problems: ['report_recipient_not_found'],
  async handle({ path: { recipient_id: id }, workspace, stores: { pg } }) {
    if (!(await deleteReportRecipient(pg, id, workspace.id))) throw problem('report_recipient_not_found')
    return { id }
  },
})

export const ofReportRecipients = [listRecipients, addRecipient, removeRecipient]
