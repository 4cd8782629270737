import { shownLine } from './shown-text.ts'

/** Columns padded to their widest text, as far as a terminal's cells are characters. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((line) => line.map(shownLine))
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The table, or a sentence where it would have no row. */
export function tableOr(nothing: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? nothing : table(head, rows)
}

/** A line for each member of a result. */
export function memberLines(result: object): string {
  return Object.entries(result)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value ?? 'none'}`)
    .join('\n')
}
