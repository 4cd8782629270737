import { listRevenueConnections } from '../../postgres/tables/revenue-connections.ts'
import { defineCommand } from '../command.ts'
import { table } from '../table.ts'

export const listRevenue = defineCommand({
  name: 'revenue list',
  summary: 'List the connections of a workspace to payment providers, newest first; secrets are not shown.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
  },
  async run({ options, installation }) {
    const workspace = await installation.workspace(options.id('workspace'))
    const connections = await listRevenueConnections(installation.postgres(), workspace.id)
    return connections.map(({ id, provider, created_at }) => ({
      ...{ connection_id: id, provider, created_at: created_at.toISOString() },
    }))
  },
  show: (connections) =>
    connections.length === 0
      ? 'no connections'
      : table(
          ['id', 'provider', 'since'],
          connections.map(({ connection_id, provider, created_at }) => [String(connection_id), provider, created_at]),
        ),
})
