/** Recipients of reports by e-mail: listed, added and removed by owner and admins in the dashboard. No key reaches them. One operation sends a report to a chat channel as well. */
import { z } from 'zod'
import { askForReport, findReportRecipient } from '../../../postgres/tables/messages/asked-reports.ts'
import {
  countRecipients,
  deleteReportRecipient,
  insertReportRecipient,
  listReportRecipients,
  type RecipientState,
  type ReportRecipient,
  setRecipientSwitches,
} from '../../../postgres/tables/messages/report-recipients.ts'
import { countAudited } from '../../../postgres/tables/workspaces/audit.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import {
  askedReportMaxMs,
  askedReportPauseMs,
  askedReportsHourlyMax,
  reportRecipientsMax,
} from '../../../schemas/limits/report-limits.ts'
import { hour } from '../../../schemas/limits/units.ts'
import {
  ReportRecipientCreate,
  type ReportRecipientResource,
  ReportRecipients,
  ReportRecipientUpdate,
} from '../../../schemas/resources/report-recipient.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'

const RecipientId = z.object({ id: z.int() })

const listRecipients = defineOperation({
  name: 'report_recipient.list',
  http: { method: 'GET', path: '/v1/report-recipients' },
  summary: 'List who gets reports by e-mail, and whether mail is set up.',
  tag: 'Workspace',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: ReportRecipients,
  async handle({ workspace, config, clock, stores: { pg } }) {
    const recipients = await listReportRecipients(pg, workspace.id)
    return {
      recipients: recipients.map((recipient) => serialize(recipient, clock.now())),
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
  scope: manageScope,
  input: { body: ReportRecipientCreate },
  // Answers are kept for retries: this one has no address.
  output: RecipientId,
  problems: ['report_recipients_full', 'report_recipient_known'],
  async handle({ body: { email, ...wanted }, workspace, clock, stores: { pg } }) {
    await lockWorkspace(pg, workspace.id)
    if ((await countRecipients(pg, workspace.id)) >= reportRecipientsMax) throw problem('report_recipients_full')
    const id = await insertReportRecipient(pg, {
      workspaceId: workspace.id,
      email: email.toLowerCase(),
      ...wanted,
      createdAt: new Date(clock.now()),
    })
    if (id === null) throw problem('report_recipient_known')
    return { id }
  },
})

const updateRecipient = defineOperation({
  name: 'report_recipient.update',
  http: { method: 'PATCH', path: '/v1/report-recipients/{recipient_id}' },
  summary: 'Say whether a recipient gets traffic alerts, and messages about failed posts, conversions and payments.',
  tag: 'Workspace',
  effect: 'update',
  scope: manageScope,
  input: { path: z.object({ recipient_id: idInPath('recipient') }), body: ReportRecipientUpdate },
  output: RecipientId,
  problems: ['report_recipient_not_found'],
  async handle({ path: { recipient_id: id }, body, workspace, stores: { pg } }) {
    const isThere = await setRecipientSwitches(pg, { id, workspaceId: workspace.id }, body)
    if (!isThere) throw problem('report_recipient_not_found')
    return { id }
  },
})

const removeRecipient = defineOperation({
  name: 'report_recipient.delete',
  http: { method: 'DELETE', path: '/v1/report-recipients/{recipient_id}' },
  summary: 'Remove a recipient of reports.',
  tag: 'Workspace',
  effect: 'delete',
  scope: manageScope,
  input: { path: z.object({ recipient_id: idInPath('recipient') }) },
  output: RecipientId,
  problems: ['report_recipient_not_found'],
  async handle({ path: { recipient_id: id }, workspace, stores: { pg } }) {
    if (!(await deleteReportRecipient(pg, id, workspace.id))) throw problem('report_recipient_not_found')
    return { id }
  },
})

const sendReport = defineOperation({
  name: 'report_recipient.send',
  http: { method: 'POST', path: '/v1/report-recipients/{recipient_id}/send' },
  summary:
    'Send a recipient or a chat channel the report of the last whole week or month now. The list says how it ended.',
  tag: 'Workspace',
  effect: 'update',
  isIdempotent: false,
  scope: manageScope,
  input: { path: z.object({ recipient_id: idInPath('recipient') }) },
  output: RecipientId,
  problems: [
    'report_recipient_not_found',
    'report_asked_lately',
    'reports_asked_often',
    'mail_not_set_up',
    'chat_channel_disabled',
  ],
  async handle({ path: { recipient_id: id }, workspace, clock, config, stores: { pg } }) {
    const to = await findReportRecipient(pg, id, workspace.id)
    if (to?.isChannel !== true && !config.isMailSetUp) throw problem('mail_not_set_up')
    if (to?.isOff === true) throw problem('chat_channel_disabled')
    const now = clock.now()
    // A recipient who is removed and added again has no last request.
    await lockWorkspace(pg, workspace.id)
    const inHour = { action: 'report_recipient.send', since: new Date(now - hour), max: askedReportsHourlyMax }
    if ((await countAudited(pg, workspace.id, inHour)) >= askedReportsHourlyMax) throw problem('reports_asked_often')
    const request = { id, workspaceId: workspace.id, askedAt: new Date(now) }
    const outcome = await askForReport(pg, { ...request, lastBefore: new Date(now - askedReportPauseMs) })
    if (outcome === 'unknown') throw problem('report_recipient_not_found')
    if (outcome === 'lately') throw problem('report_asked_lately')
    return { id }
  },
})

export const reportRecipientOperations = [listRecipients, addRecipient, updateRecipient, removeRecipient, sendReport]

function serialize(
  { created_at, sent_at, has_failed, asked_at, asked_state, asked_failure, ...recipient }: ReportRecipient,
  now: number,
): z.output<typeof ReportRecipientResource> {
  const state = serializeState({ sent_at, has_failed, asked_at, asked_state, asked_failure }, now)
  const conversion_names = [...recipient.conversion_names]
  return { ...recipient, conversion_names, created_at: created_at.toISOString(), ...state }
}

type ShownState = Pick<z.output<typeof ReportRecipientResource>, 'sent_at' | 'has_failed' | 'asked'>

/** How far the reports to an address or a channel are. A request that nobody answered in time has failed. */
export function serializeState(
  { sent_at, has_failed, asked_at, asked_state, asked_failure }: RecipientState,
  now: number,
): ShownState {
  const about = { sent_at: sent_at?.toISOString() ?? null, has_failed }
  if (asked_at === null || asked_state === null) return { ...about, asked: null }
  const isWaiting = asked_state === 'waiting' || asked_state === 'sending'
  const isLate = isWaiting && asked_at.getTime() <= now - askedReportMaxMs
  const state = isLate ? 'failed' : isWaiting ? 'waiting' : asked_state
  const failure = isLate ? 'nothing sent it within five minutes' : asked_failure
  return { ...about, asked: { at: asked_at.toISOString(), state, failure } }
}
