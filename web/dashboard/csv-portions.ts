/** Divides the text of a CSV file into texts that one request takes: each begins with the names of columns. */

/** As many rows as the API takes, and fewer characters: each may be three bytes. */
export const portionRows = 500
const portionCharacters = 300_000

/** A row may have line breaks within quotes. Empty rows are left out. */
export function portionsOf(text: string): string[] {
  const [names = '', ...rows] = rowsOf(text)
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
  const rows: string[] = []
  let open: string | undefined
  for (const line of text.split(/\r?\n/)) {
    const row = open === undefined ? line : `${open}\n${line}`
    const quotes = row.split('"').length - 1
    open = quotes % 2 === 1 ? row : undefined
    if (open === undefined && row.trim() !== '') rows.push(row)
  }
  // Quotes without an end: the API says what is wrong.
  return open === undefined ? rows : [...rows, open]
}
