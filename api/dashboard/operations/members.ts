/** Members of a workspace and invitations: by owner and admins in the dashboard; any member may leave. No key reaches them. */
import { z } from 'zod'
import {
  createInvitation,
  deleteInvitation,
  type Invitation,
  listInvitations,
} from '../../../postgres/tables/members/invitations.ts'
import {
  changeRole,
  listMembers,
  type MemberChange,
  type MemberRefusal,
  removeMember,
} from '../../../postgres/tables/members/members.ts'
import { addInvitationMail } from '../../../postgres/tables/messages/account-mails.ts'
import { countInvitationMail, type MailVerdict } from '../../../postgres/tables/messages/invitation-mails.ts'
import type { SecretBox } from '../../../runtime/crypto/secret-box.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { makeLinkToken } from '../../../schemas/keys.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { accountMailMs, accountMailRetryDelaysMs } from '../../../schemas/limits/account-mail-limits.ts'
import { CreatedInvitation, InvitationCreate, Members, MemberUpdate } from '../../../schemas/resources/member.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { defineOperation } from '../../operations/define.ts'
import { joinPath } from '../join.ts'
import { requireManaging } from './require-managing.ts'

const MemberPath = z.object({ member_id: idInPath('member') })
/** With the ids of all that ended with the change. The audit row has them, too. */
const ChangedMember = z.object({
  id: z.int(),
  revoked_keys: z.array(z.int()),
  withdrawn_invitations: z.array(z.int()),
})
const ended = ['revoked_keys', 'withdrawn_invitations']

const listThem = defineOperation({
  name: 'member.list',
  http: { method: 'GET', path: '/v1/members' },
  summary: 'List the members with their roles, and the open invitations.',
  tag: 'Workspace',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: Members,
  async handle({ workspace, actor, clock, config, stores: { pg } }) {
    const members = await listMembers(pg, workspace.id)
    const invitations = await listInvitations(pg, workspace.id, clock.now())
    return {
      members: members.map((member) => ({
        ...member,
        added_at: member.added_at.toISOString(),
        is_self: member.id === actor.id,
      })),
      invitations: invitations.map((invitation) => ({
        ...invitation,
        created_at: invitation.created_at.toISOString(),
        expires_at: invitation.expires_at.toISOString(),
        mail: isLate(invitation, clock.now()) ? ('failed' as const) : invitation.mail,
      })),
      is_second_factor_required: workspace.second_factor_required,
      is_mail_set_up: config.isMailSetUp,
    }
  },
})

/** @param mailBox seals the token until it is sent */
const makeInvite = (mailBox: SecretBox) => {
  /**
   * Nobody learns whether others invite an address. So one that has had its mails looks like one whose server takes
   * none: its mail, without a link, fails when the tries of a mail would have ended.
   */
  function mailOf({ id, token }: { id: number; token: string }, verdict: MailVerdict, now: number) {
    const mail = { id, now: new Date(now) }
    if (verdict === 'often') return { ...mail, sealed: null }
    if (verdict === 'counted') return { ...mail, sealed: mailBox.seal(token) }
    const triesMs = accountMailRetryDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0)
    return { ...mail, sealed: mailBox.seal(makeLinkToken()), dueAt: new Date(now + triesMs) }
  }

  return defineOperation({
    name: 'invitation.create',
    http: { method: 'POST', path: '/v1/invitations' },
    summary:
      'Invite somebody as a member. The answer holds the link, once; where mail is set up, it is mailed as well.',
    tag: 'Workspace',
    effect: 'create',
    scope: manageScope,
    input: { body: InvitationCreate },
    output: CreatedInvitation,
    answersWithSecret: true,
    auditIds: ['role'],
    problems: ['members_full', 'member_known', 'invitation_known'],
    async handle({ body: { email, role }, workspace, actor, clock, config, stores: { pg } }) {
      const now = clock.now()
      const wanted = { workspaceId: workspace.id, email: email.toLowerCase(), role, invitedBy: actor.id, now }
      const made = await createInvitation(pg, wanted)
      if (made === 'denied') throw problem('workspace_access_denied')
      if (made === 'member') throw problem('member_known')
      if (made === 'invited') throw problem('invitation_known')
      if (made === 'full') throw problem('members_full')
      if (config.isMailSetUp) await addInvitationMail(pg, mailOf(made, await countInvitationMail(pg, wanted), now))
      return { id: made.id, url: `${config.apiHost}${joinPath}?${new URLSearchParams({ token: made.token })}` }
    },
  })
}

const withdraw = defineOperation({
  name: 'invitation.delete',
  http: { method: 'DELETE', path: '/v1/invitations/{invitation_id}' },
  summary: 'Withdraw an invitation: its link stops working.',
  tag: 'Workspace',
  effect: 'delete',
  scope: manageScope,
  input: { path: z.object({ invitation_id: idInPath('invitation') }) },
  output: z.object({ id: z.int() }),
  problems: ['invitation_not_found'],
  async handle({ path: { invitation_id: id }, workspace, stores: { pg } }) {
    if (!(await deleteInvitation(pg, id, workspace.id))) throw problem('invitation_not_found')
    return { id }
  },
})

const update = defineOperation({
  name: 'member.update',
  http: { method: 'PATCH', path: '/v1/members/{member_id}' },
  summary: 'Give a member another role. It counts from the next request on.',
  tag: 'Workspace',
  effect: 'update',
  scope: manageScope,
  input: { path: MemberPath, body: MemberUpdate },
  output: ChangedMember,
  auditIds: ['role', ...ended],
  problems: ['member_not_found', 'member_is_owner'],
  async handle({ path: { member_id: id }, body: { role }, workspace, actor, stores: { pg } }) {
    await requireManaging(pg, workspace.id, actor)
    return changed(id, await changeRole(pg, { workspaceId: workspace.id, id, role }))
  },
})

const remove = defineOperation({
  name: 'member.delete',
  http: { method: 'DELETE', path: '/v1/members/{member_id}' },
  summary:
    "Remove a member, who is out at once: sessions go on in other workspaces. The member's keys, shared links and connected apps are revoked.",
  tag: 'Workspace',
  effect: 'delete',
  scope: manageScope,
  input: { path: MemberPath },
  output: ChangedMember,
  auditIds: ended,
  problems: ['member_not_found', 'member_is_owner'],
  async handle({ path: { member_id: id }, workspace, actor, stores: { pg } }) {
    await requireManaging(pg, workspace.id, actor)
    return changed(id, await removeMember(pg, workspace.id, id))
  },
})

const leave = defineOperation({
  name: 'member.leave',
  http: { method: 'POST', path: '/v1/members/leave' },
  summary: 'Leave the workspace, as if removed from it.',
  tag: 'Workspace',
  effect: 'delete',
  scope: 'workspace:read',
  needsNoPlan: true,
  input: {},
  output: ChangedMember,
  auditIds: ended,
  problems: ['member_is_owner'],
  async handle({ actor: { id }, workspace, stores: { pg } }) {
    return changed(id, await removeMember(pg, workspace.id, id))
  },
})

export const makeMemberOperations = (mailBox: SecretBox) => [
  listThem,
  makeInvite(mailBox),
  withdraw,
  update,
  remove,
  leave,
]

/** Nobody sends its mail any more. */
function isLate({ mail, created_at }: Invitation, now: number): boolean {
  return mail === 'waiting' && created_at.getTime() <= now - accountMailMs
}

/** Another workspace's member can't be told from none. */
function changed(id: number, change: MemberChange | MemberRefusal): (typeof ChangedMember)['_output'] {
  if (change === 'unknown') throw problem('member_not_found')
  if (change === 'owner') throw problem('member_is_owner')
  return { id, ...change }
}
