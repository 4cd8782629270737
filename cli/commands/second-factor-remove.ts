import { findFactorHolder, turnOffSecondFactor } from '../../postgres/tables/second-factors.ts'
import { emailOf } from '../../schemas/event/identifiers.ts'
import { identifierLengthMax } from '../../schemas/limits/event-limits.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, UsageError } from '../command.ts'

export const removeSecondFactor = defineCommand({
  name: 'second-factor remove',
  summary:
    'Turn off the second factor of an account whose app and recovery codes are lost: the password alone signs in.',
  options: { email: { value: 'EMAIL', meaning: 'What the member or owner signs in with.', isRequired: true } },
  async run({ options, installation }) {
    const email = emailOf(options.text('email', identifierLengthMax))
    if (email === null) throw new UsageError('--email is no e-mail address')
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
