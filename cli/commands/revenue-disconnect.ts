import { disconnectRevenue } from '../../postgres/tables/revenue-connections.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, readId } from '../command.ts'

export const disconnectRevenueProvider = defineCommand({
  name: 'revenue disconnect',
  summary: 'Disconnect a payment provider by the id of its connection: its events are refused, what it recorded stays.',
  argument: 'ID',
  options: {},
  async run({ argument, installation }) {
    const id = readId(argument, 'ID')
    return installation.postgres().transaction(async (tx) => {
      const gone = await disconnectRevenue(tx, id)
      if (gone === null) throw new CommandFailed(`there is no connection ${id}`)
      const { workspace_id, provider } = gone
      await auditCommand(tx, workspace_id, 'revenue_connection.disconnect', id, { provider })
      return { connection_id: id, provider }
    })
  },
  show: ({ connection_id, provider }) => `connection ${connection_id} to ${provider} disconnected`,
})
