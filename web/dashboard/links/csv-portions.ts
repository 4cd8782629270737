/** Divides the text of a CSV file into texts that one request takes: each begins with the names of columns. */

import { delimiterOf } from '../../../schemas/csv-delimiter.ts'

/** As many rows as the API takes, and fewer characters: each may be three bytes. */
export const portionRows = 500
const portionCharacters = 300_000

/** Undefined if the bytes aren't UTF-8. Lenient decoding would silently lose letters of another encoding. */
export function textOf(bytes: ArrayBuffer | Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A file takes no more, here as by the command line. */
export const fileBytesMax = 32 * 2 ** 20
export const fileRowsMax = 10_000

/**
 * A row may have line breaks within quotes. Empty rows are left out.
 * @returns null where there are more than `fileRowsMax` rows
 */
export function portionsOf(text: string): string[] | null {
  const [names = '', ...rows] = rowsOf(text)
  if (rows.length > fileRowsMax) return null
  const portions: string[] = []
  let some: string[] = []
  let characters = 0
  for (const row of rows) {
    if (some.length === portionRows || (some.length > 0 && characters + row.length > portionCharacters)) {
      portions.push([names, ...some].join('\n'))
      some = []
      characters = 0
    }
    some.push(row)
    characters += row.length
  }
  return some.length > 0 ? [...portions, [names, ...some].join('\n')] : portions
}

function rowsOf(text: string): string[] {
  const delimiter = delimiterOf(text)
  const rows: string[] = []
  let lines: string[] = []
  let isQuoted = false
  // Excel's “CSV (Macintosh)” ends lines with CR alone.
  for (const line of text.split(text.includes('\n') ? /\r?\n/ : '\r')) {
    lines.push(line)
    isQuoted = endsQuoted(line, isQuoted, delimiter)
    if (isQuoted) continue
    const row = lines.join('\n')
    // Spreadsheets save emptied rows as delimiters only. The API skips these, too.
    if (row.replaceAll(delimiter, '').replaceAll('"', '').trim() !== '') rows.push(row)
    lines = []
  }
  // Quotes without an end: the API says what is wrong.
  return lines.length > 0 ? [...rows, lines.join('\n')] : rows
}

/** Whether the line's end is within quotes. They open a cell at its beginning alone, as the API reads them. */
function endsQuoted(line: string, beginsQuoted: boolean, delimiter: string): boolean {
  let isQuoted = beginsQuoted
  let beginsCell = !beginsQuoted
  for (let at = 0; at < line.length; at++) {
    const isQuote = line[at] === '"'
    if (!isQuoted) {
      isQuoted = isQuote && beginsCell
      beginsCell = line[at] === delimiter
    } else if (isQuote && line[at + 1] === '"') at++
    else isQuoted = !isQuote
  }
  return isQuoted
}
