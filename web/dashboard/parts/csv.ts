/** A list as CSV (RFC 4180), for spreadsheets. Pure; test/unit/dashboard-csv.test.ts. */
import { decimalsOf } from '../../../schemas/reference/currencies.ts'
import { type ColumnName, columns, type ListKind, type ListRow } from '../overview/list-kinds.ts'

/** A figure that isn't known is empty. Revenue is in whole units of the currency, which stands in its head. */
export function csvOf(
  kind: Pick<ListKind, 'title' | 'heading' | 'columns'>,
  rows: readonly ListRow[],
  currency: string,
): string {
  const isMoney = (name: ColumnName) => name === 'revenue_cents'
  const decimals = decimalsOf(currency)
  const shown = (name: ColumnName, value: number | undefined) => {
    if (value === undefined) return ''
    return isMoney(name) ? Number((value / 10 ** decimals).toFixed(decimals)) : value
  }
  const head = [
    kind.heading ?? kind.title,
    ...kind.columns.map((name) => `${columns[name].label}${isMoney(name) ? ` (${currency})` : ''}`),
  ]
  const lines = rows.map(({ label, figures }) => [label, ...kind.columns.map((name) => shown(name, figures[name]))])
  return linesOf([head, ...lines])
}

export function linesOf(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')
}

/**
 * A text that a spreadsheet would take for a formula gets an apostrophe before it; some read full-width signs as the others.
 * Spreadsheets of many countries part cells at semicolons, some at tabs: such texts are quoted as well.
 */
function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value
  return /[",;\t\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
