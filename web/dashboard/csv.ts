/** A list as CSV (RFC 4180), for spreadsheets. Pure; test/unit/dashboard-csv.test.ts. */
import { columns, type ListKind, type ListRow } from './list-kinds.ts'

export function csvOf(kind: Pick<ListKind, 'title' | 'columns'>, rows: readonly ListRow[]): string {
  const head = [kind.title, ...kind.columns.map((name) => columns[name].label)]
  const lines = rows.map(({ label, figures }) => [label, ...kind.columns.map((name) => figures[name] ?? 0)])
  return [head, ...lines].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')
}

/** A text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
