/** Rows of a CSV text as links that could be sent to `POST /v1/links`. Nothing is judged here but the text itself. */
import { CsvError, parse } from 'csv-parse/sync'
import { delimiterOf } from '../../../schemas/csv-delimiter.ts'
import { linkLabelLengthMax } from '../../../schemas/limits/api-limits.ts'
import { ownUtm } from '../../../schemas/reference/campaign-query.ts'
import { type ImportedField, importedColumns, importedFields } from '../../../schemas/resources/link-import.ts'
import { readShortDomain } from '../../../schemas/short-domain.ts'

/** Names of columns by field, in place of the usual ones. */
export type ImportColumns = Readonly<Partial<Record<ImportedField, string | undefined>>>

export interface LinkRow {
  /** From 1 on, behind the names of columns. */
  readonly row: number
  readonly sent: Readonly<Record<string, unknown>> & {
    readonly label: string
    readonly destination_url: string
    /** The host that the file names, in the form of `readShortDomain`. */
    readonly domain: string | null
  }
}

/** In words for those who have the file. */
export class UnreadableLinks extends Error {}

/** @throws UnreadableLinks where the text is no CSV, has no column of destinations, or too many rows */
export function readLinksCsv(csv: string, columns: ImportColumns, rowsMax: number): LinkRow[] {
  const [names = [], ...rows] = cellsOf(csv)
  if (rows.length > rowsMax) throw new UnreadableLinks(`There are more than ${rowsMax} rows`)
  const places = placesOf(names, columns)
  return rows.map((cells, at) => {
    const cell = (field: ImportedField) => cells[places.get(field) ?? -1]?.trim() || undefined
    return { row: at + 1, sent: linkOf(cell) }
  })
}

function cellsOf(csv: string): string[][] {
  if (csv.includes('\0') || !csv.isWellFormed()) throw new UnreadableLinks('The text is no plain text')
  const delimiter = delimiterOf(csv)
  try {
    return parse(csv, {
      bom: true,
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_records_with_empty_values: true,
    })
  } catch (error) {
    if (error instanceof CsvError) throw new UnreadableLinks(`The text can't be read as CSV: ${error.message}`)
    throw error
  }
}

function placesOf(names: readonly string[], columns: ImportColumns): ReadonlyMap<ImportedField, number> {
  const plain = names.map(plainName)
  const places = new Map<ImportedField, number>()
  for (const field of importedFields) {
    const named = columns[field]
    const wanted = named === undefined ? [field, ...importedColumns[field]] : [named]
    const place = wanted.map((name) => plain.indexOf(plainName(name))).find((at) => at >= 0)
    if (place !== undefined) places.set(field, place)
    else if (named !== undefined) throw new UnreadableLinks(`There is no column \`${named}\``)
  }
  if (places.has('destination_url')) return places
  const usual = ['destination_url', ...importedColumns.destination_url].join(', ')
  throw new UnreadableLinks(`There is no column of destinations, such as ${usual}`)
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

function linkOf(cell: (field: ImportedField) => string | undefined): LinkRow['sent'] {
  const {
    key,
    short_url,
    domain,
    label,
    tags,
    destination_url = '',
    ...others
  } = Object.fromEntries(importedFields.map((field) => [field, cell(field)])) as Partial<Record<ImportedField, string>>
  const named = Object.entries(others).filter(([, text]) => text !== undefined)
  const chosen = key?.replace(/^\//, '') ?? (short_url && (keyOf(short_url) || undefined))
  return {
    // Titles of pages are longer than labels.
    label: [...(label ?? destination_url.replace(/^https?:\/\//i, ''))].slice(0, linkLabelLengthMax).join(''),
    destination_url,
    domain: readShortDomain(domain ?? hostOf(short_url ?? '')),
    ...(chosen !== undefined && { key: chosen }),
    ...(tags !== undefined && {
      tags: tags
        .split(/[,;|]/)
        .map((tag) => tag.trim())
        .filter(Boolean),
    }),
    ...ownUtm(destination_url),
    ...Object.fromEntries(named),
  }
}

/** The host of a short URL, which may have no scheme; empty where it has none. */
function hostOf(shortUrl: string): string {
  return /^(?:[a-z]+:\/\/)?([^/?#:]+)/i.exec(shortUrl)?.[1] ?? ''
}

/** The path of a short URL, which may have no scheme; empty where it has none. */
function keyOf(shortUrl: string): string {
  return shortUrl
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/^[^/]*\/?/, '')
    .replace(/[?#].*$/s, '')
    .replace(/\/$/, '')
}
