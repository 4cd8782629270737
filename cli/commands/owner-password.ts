import { EmailTaken, setOwnerPassword } from '../../postgres/tables/owner-passwords.ts'
import { hashPassword } from '../../runtime/crypto/password.ts'
import { emailOf } from '../../schemas/event/identifiers.ts'
import { identifierLengthMax } from '../../schemas/limits/event-limits.ts'
import { readNewPassword } from '../accounts/read-password.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, UsageError } from '../command.ts'

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
    const email = readEmail(options)
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

function readEmail(options: OptionValues): string | undefined {
  const text = options.text('email', identifierLengthMax)
  if (text === undefined) return undefined
  const email = emailOf(text)
  if (email === null) throw new UsageError('--email is no e-mail address')
  return email
}
