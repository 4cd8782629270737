import { listAuditedWorkspaces, verifyAuditChain } from '../../postgres/tables/workspaces/audit.ts'
import { auditVerifyDeadlineMs } from '../../schemas/limits/api-limits.ts'
import { CommandFailed, defineCommand } from '../command.ts'
import { table } from '../table.ts'

export const verifyAudit = defineCommand({
  name: 'audit verify',
  summary: 'Compute the chain of audit events anew, and name the first row of each workspace that was changed.',
  options: { workspace: { value: 'ID', meaning: 'The workspace, also a deleted one; without it all of them.' } },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const pg = installation.postgres()
    const chained = await listAuditedWorkspaces(pg)
    if (id !== undefined && !chained.includes(id)) throw new CommandFailed(`there is no workspace ${id}`)
    const ids = id === undefined ? chained : [id]
    const chains = []
    for (const workspaceId of ids) {
      const { rows, firstBroken, isCut } = await verifyAuditChain(pg, workspaceId, auditVerifyDeadlineMs)
      chains.push({ workspace_id: workspaceId, rows, first_broken: firstBroken, is_cut: isCut })
    }
    return { is_intact: chains.every(({ first_broken, is_cut }) => first_broken === null && !is_cut), chains }
  },
  show: ({ chains }) =>
    table(
      ['workspace', 'rows', 'chain'],
      chains.map((chain) => [String(chain.workspace_id), String(chain.rows), verdictOf(chain)]),
    ),
  exitCode: ({ is_intact }) => (is_intact ? 0 : 1),
})

function verdictOf({ first_broken, is_cut }: { first_broken: number | null; is_cut: boolean }): string {
  if (first_broken !== null) return `broken at event ${first_broken}`
  return is_cut ? 'events are missing at its end' : 'intact'
}
