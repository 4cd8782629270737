import { replaceRates } from '../../postgres/tables/revenue-rates.ts'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { importLinesEach } from '../../schemas/limits/revenue-limits.ts'
import { RateLine } from '../../schemas/revenue-imports.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand } from '../command.ts'
import { importCsv } from '../imports/read-csv.ts'

export const importRates = defineCommand({
  name: 'revenue rates',
  summary:
    "Import exchange rates into the workspace's currency from a CSV file: they convert what is recorded on their day.",
  argument: 'FILE',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
  },
  async run({ options, argument, installation, signal }) {
    const { id: workspaceId, currency } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const today = new Date().toISOString().slice(0, 10)
    const lines = await importCsv<RateLine>({
      ...{ path: argument, columns: Object.keys(RateLine.shape), each: importLinesEach, signal },
      read: (line) => parsePart('body', RateLine, line),
      take: (some, firstOf) =>
        pg.transaction(async (tx) => {
          const rates = some.map((line) => ({ ...line, day: line.day ?? today }))
          await replaceRates(tx, { workspaceId, currency }, rates)
          if (firstOf === undefined) return
          await auditCommand(tx, workspaceId, 'revenue_rate.import', null, { lines: firstOf, currency })
        }),
    })
    return { workspace_id: workspaceId, currency, lines }
  },
  show: ({ workspace_id, currency, lines }) => `rates into ${currency} kept for workspace ${workspace_id}: ${lines}`,
})
