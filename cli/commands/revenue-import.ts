import { customFields, readCustom } from '../../api/revenue/providers/custom.ts'
import { recordRevenue } from '../../postgres/tables/revenue-ledger.ts'
import { type Parsed, parsePart } from '../../schemas/errors/zod-errors.ts'
import { importLinesEach } from '../../schemas/limits/revenue-limits.ts'
import type { RevenueFacts } from '../../schemas/revenue.ts'
import { RevenueLine } from '../../schemas/revenue-imports.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand } from '../command.ts'
import { type CsvLine, importCsv, withNumbers } from '../imports/read-csv.ts'

export const importRevenue = defineCommand({
  name: 'revenue import',
  summary: 'Import payments and refunds from a CSV file into the ledger; the same file again changes nothing.',
  argument: 'FILE',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
  },
  async run({ options, argument, installation, signal }) {
    const { id: workspaceId, timezone } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const now = Date.now()
    const lines = await importCsv<Line>({
      ...{ path: argument, columns: ['provider', ...customFields], each: importLinesEach, signal },
      read: (line) => readLine(line, timezone),
      take: (some, firstOf) =>
        pg.transaction(async (tx) => {
          for (const { provider, facts } of some) await recordRevenue(tx, { workspaceId, provider, now }, facts)
          if (firstOf !== undefined) await auditCommand(tx, workspaceId, 'revenue.import', null, { lines: firstOf })
        }),
    })
    return { workspace_id: workspaceId, lines }
  },
  show: ({ workspace_id, lines }) => `lines in the ledger of workspace ${workspace_id}: ${lines}`,
})

interface Line {
  readonly provider: string
  readonly facts: RevenueFacts
}

/** A line is what a custom event is, and may name the provider whose payment it is. */
function readLine(line: CsvLine, timezone: string): Parsed<Line> {
  const named = parsePart('body', RevenueLine, line)
  if (!named.ok) return named
  const event = readCustom({ type: 'payment', ...withNumbers(line, ['value_cents']) }, timezone)
  return event.ok ? { ok: true, value: { provider: named.value.provider, facts: event.value! } } : event
}
