import { createSignInLink } from '../../postgres/tables/owner-sessions.ts'
import { systemClock } from '../../runtime/clock.ts'
import { signInLinkMs } from '../../schemas/limits/api-limits.ts'
import { defineCommand } from '../command.ts'

export const makeOwnerLink = defineCommand({
  name: 'owner link',
  summary: `Make a link that signs the owner in to the dashboard: once, within ${signInLinkMs / 60_000} minutes, on this machine.`,
  options: { workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' } },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    const url = installation.localUrl()
    const token = await createSignInLink(installation.postgres(), workspace.id, systemClock.now())
    return { workspace_id: workspace.id, url: `${url}/dashboard/sign-in?token=${token}` }
  },
  show: ({ url }) => url,
})
