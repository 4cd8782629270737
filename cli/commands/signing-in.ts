/** How people get into the dashboard: a link, a password, and the end of a lost second factor. */

import { EmailTaken, setOwnerPassword } from '../../postgres/tables/members/owner-passwords.ts'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { findFactorHolder, turnOffSecondFactor } from '../../postgres/tables/members/second-factors.ts'
import { systemClock } from '../../runtime/clock.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { signInLinkMs } from '../../schemas/limits/api-limits.ts'
import { readNewPassword } from '../accounts/read-password.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, UsageError, workspaceOption } from '../command.ts'

export const makeOwnerLink = defineCommand({
  name: 'owner link',
  summary: `Make a link that signs the owner in to the dashboard: once, within ${signInLinkMs / 60_000} minutes, on this machine.`,
  options: { workspace: workspaceOption },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    const url = installation.localUrl()
    const token = await createSignInLink(installation.postgres(), workspace.id, systemClock.now())
    return { workspace_id: workspace.id, url: `${url}/dashboard/sign-in?token=${token}` }
  },
  show: ({ url }) => url,
})

export const setPassword = defineCommand({
  name: 'owner password',
  summary: 'Set the password that the owner signs in to the dashboard with. It ends the sessions of the owner.',
  options: {
    workspace: { value: 'ID', meaning: 'A workspace of the owner; without it the only or first one.' },
    email: { value: 'EMAIL', meaning: 'What the owner signs in with from now on; as it was when left out.' },
    'password-file': {
      value: 'FILE',
      meaning: 'Holds the password; else it is asked for, or read from standard input.',
    },
    remove: { meaning: 'Take the password off: links alone sign in.' },
  },
  async run({ options, installation }) {
    const email = options.email('email')
    const file = options.text('password-file')
    const isRemoved = options.flag('remove')
    if (isRemoved && (file !== undefined || email !== undefined)) {
      throw new UsageError('--remove excludes --email and --password-file')
    }
    const { id } = await installation.workspace(options.id('workspace'))
    const hash = isRemoved ? null : await hashPassword(await readNewPassword(file))
    try {
      return await installation.postgres().transaction(async (tx) => {
        const signInEmail = await setOwnerPassword(tx, id, hash, email)
        await auditCommand(tx, id, isRemoved ? 'owner.remove_password' : 'owner.set_password', null, {})
        return { workspace_id: id, email: signInEmail, has_password: !isRemoved }
      })
    } catch (error) {
      if (error instanceof EmailTaken) throw new CommandFailed(error.message)
      throw error
    }
  },
  show: ({ email, has_password }) =>
    has_password
      ? `sign in as ${email} with the new password; all sessions of before have ended`
      : 'the password was taken off; all sessions have ended',
})

export const removeSecondFactor = defineCommand({
  name: 'second-factor remove',
  summary:
    'Turn off the second factor of an account whose app and recovery codes are lost: the password alone signs in.',
  options: { email: { value: 'EMAIL', meaning: 'What the member or owner signs in with.', isRequired: true } },
  async run({ options, installation }) {
    const email = options.email('email')!
    await installation.postgres().transaction(async (tx) => {
      const holder = await findFactorHolder(tx, email)
      if (holder === null || !(await turnOffSecondFactor(tx, holder.ownerId))) {
        throw new CommandFailed(`no account with a second factor signs in as ${email}`)
      }
      await auditCommand(tx, holder.workspaceId, 'member.turn_off_second_factor', holder.ownerId, {})
    })
    return { email }
  },
  show: ({ email }) => `the second factor was turned off: ${email} signs in by the password alone`,
})
