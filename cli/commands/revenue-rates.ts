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
  async run({ options, argument, installation }) {
    const { id: workspaceId, currency } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const today = new Date().toISOString().slice(0, 10)
    const take = (lines: readonly RateLine[]) =>
      replaceRates(
        pg,
        { workspaceId, currency },
        lines.map((line) => ({ ...line, day: line.day ?? today })),
      )
    const lines = await importCsv(argument, (line) => parsePart('body', RateLine, line), take, importLinesEach)
    await pg.transaction((tx) => auditCommand(tx, workspaceId, 'revenue_rate.import', null, { lines, currency }))
    return { workspace_id: workspaceId, currency, lines }
  },
  show: ({ workspace_id, currency, lines }) => `${lines} rates into ${currency} are kept for workspace ${workspace_id}`,
})
