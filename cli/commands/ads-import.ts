import { replaceAdSpend } from '../../postgres/tables/ad-spend.ts'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { importLinesEach } from '../../schemas/limits/revenue-limits.ts'
import { AdLine } from '../../schemas/revenue-imports.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand } from '../command.ts'
import { importCsv, withNumbers } from '../imports/read-csv.ts'

export const importAds = defineCommand({
  name: 'ads import',
  summary: 'Import what ads cost, by day and campaign, from a CSV file; the same file again changes nothing.',
  argument: 'FILE',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
  },
  async run({ options, argument, installation }) {
    const { id: workspaceId } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const read = (line: Parameters<typeof withNumbers>[0]) =>
      parsePart('body', AdLine, withNumbers(line, ['cost_cents', 'clicks']))
    const take = (lines: readonly AdLine[]) => replaceAdSpend(pg, workspaceId, lines)
    const lines = await importCsv(argument, read, take, importLinesEach)
    await pg.transaction((tx) => auditCommand(tx, workspaceId, 'ad_spend.import', null, { lines }))
    return { workspace_id: workspaceId, lines }
  },
  show: ({ workspace_id, lines }) => `${lines} lines of ad spend are kept for workspace ${workspace_id}`,
})
