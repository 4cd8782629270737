/** Short domains of all workspaces, and an end of one whose host has changed hands. */
import { listAllDomains, releaseHost } from '../../postgres/tables/links/operator-domains.ts'
import { readShortDomain } from '../../schemas/short-domain.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, UsageError } from '../command.ts'
import { tableOr } from '../table.ts'

export const listShortDomains = defineCommand({
  name: 'domains list',
  summary: 'List the short domains of all workspaces, by host.',
  options: { workspace: { value: 'ID', meaning: 'Only those of this workspace.' } },
  run: ({ options, installation }) => listAllDomains(installation.postgres(), options.id('workspace')),
  show: (domains) =>
    tableOr(
      'no short domains',
      ['host', 'workspace', 'verified', 'active links'],
      domains.map(({ host, workspace_id, verified_at, active_links }) => [
        host,
        String(workspace_id),
        verified_at?.toISOString() ?? 'pending',
        String(active_links),
      ]),
    ),
})

export const releaseShortDomain = defineCommand({
  name: 'domains release',
  summary: 'Take a host that changed hands from the workspace that has proven it; links under it lead nowhere then.',
  argument: 'HOST',
  options: {},
  async run({ argument, installation }) {
    const host = readShortDomain(argument)
    if (host === null) throw new UsageError(`HOST is like go.example.com, got \`${argument}\``)
    return installation.postgres().transaction(async (tx) => {
      const released = await releaseHost(tx, host)
      if (released === null) throw new CommandFailed(`no workspace has proven ${host}: \`svc domains list\` shows all`)
      const { id, workspace_id, active_links } = released
      await auditCommand(tx, workspace_id, 'domain.release', id, { host, active_links })
      return { host, workspace_id, active_links }
    })
  },
  show: ({ host, workspace_id, active_links }) =>
    `${host} is free; workspace ${workspace_id} had it, with so many active links: ${active_links}`,
})
