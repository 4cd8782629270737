/** CSV files with a column for each field: payments, exchange rates, costs of ads. */
import { customFields, readCustom } from '../../api/revenue/providers/custom.ts'
import { replaceAdSpend } from '../../postgres/tables/revenue/ad-spend.ts'
import type { ReportedFacts } from '../../postgres/tables/revenue/reported-payments.ts'
import { listOtherAmounts, recordRevenue } from '../../postgres/tables/revenue/revenue-ledger.ts'
import { replaceRates } from '../../postgres/tables/revenue/revenue-rates.ts'
import { type Parsed, parsePart } from '../../schemas/errors/zod-errors.ts'
import { importLinesEach } from '../../schemas/limits/revenue-limits.ts'
import { AdLine, RateLine, RevenueLine } from '../../schemas/revenue-imports.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand, workspaceOption } from '../command.ts'
import { lockForImport } from '../imports/lock-workspace.ts'
import { type CsvLine, importCsv, withNumbers } from '../imports/read-csv.ts'

export const importRevenue = defineCommand({
  name: 'revenue import',
  summary: 'Import payments and refunds from a CSV file into the ledger; the same file again changes nothing.',
  argument: 'FILE',
  options: { workspace: workspaceOption },
  async run({ options, argument, installation, progress, signal }) {
    const { id: workspaceId, timezone } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const now = Date.now()
    const others: string[] = []
    const lines = await importCsv<ReportedFacts>({
      path: argument,
      columns: ['provider', ...customFields],
      each: importLinesEach,
      progress,
      signal,
      read: (line) => readLine(line, timezone),
      take: (some, firstOf) =>
        pg.transaction(async (tx) => {
          await lockForImport(tx, workspaceId)
          await recordRevenue(tx, { workspaceId, now }, some)
          others.push(...(await listOtherAmounts(tx, workspaceId, some)))
          if (firstOf !== undefined) await auditCommand(tx, workspaceId, 'revenue.import', null, { lines: firstOf })
        }),
    })
    const other_amounts = { count: others.length, first: others.slice(0, firstOthers) }
    return { workspace_id: workspaceId, lines, other_amounts }
  },
  show: ({ workspace_id, lines, other_amounts: { count, first } }) => {
    const shown = `lines in the ledger of workspace ${workspace_id}: ${lines}`
    if (count === 0) return shown
    const ids = `${first.join(', ')}${count > first.length ? ', …' : ''}`
    return `${shown}\nlines with another amount than the ledger has, which stays: ${count} (${ids})`
  },
})

/** Ids that are shown of lines which changed nothing, though their amounts differ. */
const firstOthers = 5

/** A line is what a custom event is, and may name the provider whose payment it is. */
function readLine(line: CsvLine, timezone: string): Parsed<ReportedFacts> {
  const named = parsePart('body', RevenueLine, line)
  if (!named.ok) return named
  const at = line['occurred_at']
  // Postgres writes offsets of whole hours without minutes: `2026-11-20 09:30:00+00`.
  const time = at && { occurred_at: at.replace(/(?<=:\d\d(?:\.\d+)?)[+-]\d\d$/, '$&:00') }
  const event = readCustom({ type: 'payment', ...withNumbers(line, ['value_cents']), ...(time || {}) }, timezone)
  return event.ok ? { ok: true, value: { provider: named.value.provider, facts: event.value! } } : event
}

export const importRates = defineCommand({
  name: 'revenue rates',
  summary:
    "Import exchange rates into the workspace's currency from a CSV file: they convert what is recorded on their day.",
  argument: 'FILE',
  options: { workspace: workspaceOption },
  async run({ options, argument, installation, progress, signal }) {
    const { id: workspaceId, currency } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const today = new Date().toISOString().slice(0, 10)
    const ofOthers = RateLine.refine((rate) => rate.currency !== currency, {
      path: ['currency'],
      message: `${currency} is the workspace's own currency and has no rate`,
    })
    const lines = await importCsv<RateLine>({
      path: argument,
      columns: Object.keys(RateLine.shape),
      each: importLinesEach,
      progress,
      signal,
      read: (line) => parsePart('body', ofOthers, line),
      take: (some, firstOf) =>
        pg.transaction(async (tx) => {
          await lockForImport(tx, workspaceId)
          const rates = some.map((line) => ({ ...line, day: line.day ?? today }))
          await replaceRates(tx, { workspaceId, currency }, rates)
          if (firstOf === undefined) return
          await auditCommand(tx, workspaceId, 'revenue_rate.import', null, { lines: firstOf, currency })
        }),
    })
    return { workspace_id: workspaceId, currency, lines }
  },
  show: ({ workspace_id, currency, lines }) => `rates into ${currency} stored for workspace ${workspace_id}: ${lines}`,
})

export const importAds = defineCommand({
  name: 'ads import',
  summary: 'Import what ads cost, by day and campaign, from a CSV file; the same file again changes nothing.',
  argument: 'FILE',
  options: { workspace: workspaceOption },
  async run({ options, argument, installation, progress, signal }) {
    const { id: workspaceId } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const lines = await importCsv<AdLine>({
      path: argument,
      columns: Object.keys(AdLine.shape),
      each: importLinesEach,
      progress,
      signal,
      read: (line) => parsePart('body', AdLine, withNumbers(line, ['cost_cents', 'clicks'])),
      take: (some, firstOf) =>
        pg.transaction(async (tx) => {
          await lockForImport(tx, workspaceId)
          await replaceAdSpend(tx, workspaceId, some)
          if (firstOf !== undefined) await auditCommand(tx, workspaceId, 'ad_spend.import', null, { lines: firstOf })
        }),
    })
    return { workspace_id: workspaceId, lines }
  },
  show: ({ workspace_id, lines }) => `lines of ad spend stored for workspace ${workspace_id}: ${lines}`,
})
