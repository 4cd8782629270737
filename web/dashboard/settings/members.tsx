/** Who may look at the workspace and change it: members with their roles, and invitations by a link that is shown once. */
import { useState } from 'preact/hooks'
import type { CreatedInvitation, Members as MembersResource } from '../../../schemas/resources/member.ts'
import { openByKey } from '../parts/choice.tsx'
import { ConfirmOnce, Dialog, FormDialog, Removal } from '../parts/dialog.tsx'
import { accountName, number, time } from '../parts/format.ts'
import { Panel } from '../parts/panel.tsx'
import { ShownOnce, useMade } from '../parts/shown-once.tsx'
import { useOptimisticChoice } from '../parts/use-optimistic-choice.ts'
import { remove, type Sent, send, useAnswer } from '../requests/query.ts'
import { useRefusal } from '../requests/use-refusal.ts'
import { may } from '../shell/may.ts'
import { addressOf } from '../shell/shared-page.ts'

type Answer = (typeof MembersResource)['_output']
type Member = Answer['members'][number]
type Made = (typeof CreatedInvitation)['_output']

const roles = {
  viewer: 'reads figures, people, posts and links',
  contributor: 'also writes drafts, media and links, and asks for approval of posts',
  editor: 'also schedules and approves posts, and writes the company profile',
  admin: 'also manages settings, keys, webhooks and members',
} as const

const mailTexts = {
  waiting: 'the mail is being sent …',
  sent: 'the mail was sent',
  failed: 'the mail couldn’t be sent: pass the link on, or withdraw this and invite anew',
} as const

export function Members({ timezone }: { timezone: string }) {
  const { refusal, done } = useRefusal()
  const { made, add, end } = useMade<Made & { readonly email: string }>()
  const [isInviting, setInviting] = useState(false)
  const [removed, setRemoved] = useState<Member>()
  const isHurried = ({ invitations }: Answer) => invitations.some(({ mail }) => mail === 'waiting')
  const { answer, failure, isComing } = useAnswer<Answer>('/members', { isHurried })
  return (
    <Panel
      title="Members"
      action={['Invite a member', () => setInviting(true)]}
      failure={failure}
      refusal={refusal}
      isComing={isComing}
    >
      {answer && <RequiredFactor isRequired={answer.is_second_factor_required} members={answer.members} done={done} />}
      {made.map((one) => (
        <ShownOnce key={one.id} secret={one.url} name="link">
          The link for <bdi>{one.email}</bdi>, which works once and for 7 days. Give it to nobody else.
          {answer?.is_mail_set_up && ' It is mailed as well: the list says how that ended.'}
        </ShownOnce>
      ))}
      <ul>
        {answer?.members.map((member) => (
          <li key={member.id} class="event endpoint">
            <span class="name">
              <bdi>{accountName(member.email)}</bdi> {member.is_self && <span class="label">you</span>}
            </span>
            <span class={answer.is_second_factor_required && !member.has_second_factor ? 'bad' : 'label'}>
              {member.has_second_factor ? 'second factor' : 'no second factor'}
            </span>
            <span class="label">since {time(member.added_at, timezone)}</span>
            {member.has_second_factor && member.role !== 'owner' && may('workspace:own') && (
              <a
                href={addressOf(`/dashboard/member-second-factor?member=${member.id}`)}
                aria-label={`Lost the phone: remove the second factor of ${member.email}`}
              >
                Lost the phone?
              </a>
            )}
            {member.role === 'owner' || member.is_self ? (
              <span>{member.role}</span>
            ) : (
              <>
                <RoleOf member={member} done={done} />
                <button
                  type="button"
                  class="danger"
                  aria-label={`Remove ${member.email}`}
                  onClick={() => setRemoved(member)}
                >
                  Remove
                </button>
              </>
            )}
          </li>
        ))}
        {answer?.invitations.map(({ id, email, role, expires_at, mail }) => (
          <li key={`invitation ${id}`} class="event endpoint">
            <span class="name">
              <bdi>{email}</bdi> <span class="label">invited as {role}</span>
            </span>
            <span class="label">until {time(expires_at, timezone)}</span>
            {mail && <span class={mail === 'failed' ? 'bad' : 'label'}>{mailTexts[mail]}</span>}
            <button
              type="button"
              class="danger"
              aria-label={`Withdraw the invitation of ${email}`}
              onClick={async () => {
                const sent = await remove(`/invitations/${id}`)
                end(id, sent)
                done(sent)
              }}
            >
              Withdraw
            </button>
          </li>
        ))}
      </ul>
      {isInviting && (
        <InviteForm
          isMailed={answer?.is_mail_set_up ?? false}
          isFactorRequired={answer?.is_second_factor_required ?? false}
          close={() => setInviting(false)}
          made={(invitation) => {
            add(invitation)
            done({ made: invitation })
          }}
        />
      )}
      {removed && (
        <Removal
          title="Remove this member"
          verb="Remove"
          path={`/members/${removed.id}`}
          close={() => setRemoved(undefined)}
          done={done}
        >
          <bdi>{removed.email}</bdi> is signed out, and {endOf(removed.keys)}. The audit log names those. Webhooks and
          recipients of reports stay.
        </Removal>
      )}
    </Panel>
  )
}

interface RoleProps {
  readonly member: Member
  done(sent: Sent<unknown>): void
}

function RoleOf({ member, done }: RoleProps) {
  const { id, email, role } = member
  const put = (next: string) => send('PATCH', `/members/${id}`, { role: next })
  const { shown, change } = useOptimisticChoice({ row: member, known: role, put })
  return (
    <select
      aria-label={`Role of ${email}`}
      onKeyDown={openByKey}
      value={shown}
      onChange={async ({ currentTarget: { value } }) => done(await change(value))}
    >
      {Object.keys(roles).map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  )
}

interface FactorProps {
  readonly isRequired: boolean
  readonly members: readonly Member[]
  done(sent: Sent<unknown>): void
}

/** The owner's switch; admins see how it stands. */
function RequiredFactor({ isRequired, members, done }: FactorProps) {
  const [isAsking, setAsking] = useState(false)
  const lacking = members.filter((member) => !member.has_second_factor)
  const set = (is_required: boolean) => send('PATCH', '/workspace/second-factor', { is_required })
  return (
    <div class="controls">
      <span>{isRequired ? 'Members need a second factor.' : 'Members may do without a second factor.'}</span>
      {may('workspace:own') && (
        <button type="button" onClick={async () => (isRequired ? done(await set(false)) : setAsking(true))}>
          {isRequired ? 'Require it no longer' : 'Require a second factor'}
        </button>
      )}
      {isAsking && lacking.some(({ role }) => role === 'owner') && (
        <Dialog title="Require a second factor" close={() => setAsking(false)}>
          <p>
            You have no second factor yourself. <a href={addressOf('/dashboard/second-factor')}>Set yours up</a> first.
          </p>
        </Dialog>
      )}
      {isAsking && !lacking.some(({ role }) => role === 'owner') && (
        <ConfirmOnce
          title="Require a second factor"
          verb="Require it"
          close={() => setAsking(false)}
          write={() => set(true)}
          done={done}
        >
          {lacking.length === 0 ? (
            'All members have one. '
          ) : (
            <>
              Without one, and shut out of this workspace until they have set one up:{' '}
              {lacking.map(({ id, email }, at) => (
                <span key={id}>
                  {at > 0 && ', '}
                  <bdi>{email}</bdi>
                </span>
              ))}
              .{' '}
            </>
          )}
          Keys, shared links and connected apps go on.
        </ConfirmOnce>
      )}
    </div>
  )
}

function endOf(keys: number): string {
  if (keys === 0) return 'no key, shared link or connected app stops working: this member has none that works'
  return keys === 1
    ? 'this member’s key, shared link or connected app stops working'
    : `the ${number(keys)} keys, shared links and connected apps of this member stop working`
}

interface InviteFormProps {
  readonly isMailed: boolean
  readonly isFactorRequired: boolean
  made(invitation: Made & { email: string }): void
  close(): void
}

function InviteForm({ isMailed, isFactorRequired, made, close }: InviteFormProps) {
  const submit = async (data: FormData) => {
    const email = String(data.get('email'))
    const sent = await send<Made>('POST', '/invitations', { email, role: data.get('role') })
    return 'refusal' in sent ? sent : { made: { ...sent.made, email } }
  }
  return (
    <FormDialog title="Invite a member" verb="Make the link" close={close} made={made} submit={submit}>
      <label>
        E-mail
        <input name="email" type="email" placeholder="name@example.com" required />
      </label>
      <label>
        Role
        <select name="role">
          {Object.keys(roles).map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
      </label>
      {Object.entries(roles).map(([role, does]) => (
        <p key={role} class="note">
          <strong>{role}</strong> {does}.
        </p>
      ))}
      {isFactorRequired && (
        <p class="note">This workspace requires a second factor: who joins sees it once one is set up.</p>
      )}
      <p class="note">
        {isMailed
          ? 'A mail with a link goes to this address. You see the link once, too.'
          : 'No mail is sent, as mail isn’t set up. You get a link to pass on.'}
      </p>
    </FormDialog>
  )
}
