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
  async run({ options, argument, installation, signal }) {
    const { id: workspaceId } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const lines = await importCsv<AdLine>({
      ...{ path: argument, columns: Object.keys(AdLine.shape), each: importLinesEach, signal },
      read: (line) => parsePart('body', AdLine, withNumbers(line, ['cost_cents', 'clicks'])),
      take: (some, firstOf) =>
        pg.transaction(async (tx) => {
          await replaceAdSpend(tx, workspaceId, some)
          if (firstOf !== undefined) await auditCommand(tx, workspaceId, 'ad_spend.import', null, { lines: firstOf })
        }),
    })
    return { workspace_id: workspaceId, lines }
  },
  show: ({ workspace_id, lines }) => `lines of ad spend kept for workspace ${workspace_id}: ${lines}`,
})
