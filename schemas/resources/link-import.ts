/** Import of tracked links from CSV: the text that is sent, the columns that are read, and what becomes of each row. */
import { z } from 'zod'
import { linkImportBytesMax, linkImportColumnLengthMax, linksImportedMax } from '../limits/api-limits.ts'

/**
 * Fields of a link, each with names of columns that exports of Bitly, Dub, Rebrandly and Short.io have for it. Case, blanks
 * and marks in a name don't count. The last part of a `short_url` is the key where there is no `key`, and its host the domain
 * where there is no `domain`.
 */
export const importedColumns = {
  destination_url: ['destination', 'long_url', 'url', 'original_url', 'target_url'],
  label: ['title', 'name'],
  key: ['attribution_key', 'slashtag', 'path', 'slug', 'back_half', 'keyword'],
  short_url: ['short_link', 'bitlink', 'link', 'post_url'],
  domain: ['domain_name', 'domain_full_name'],
  tags: ['tag'],
  expires_at: ['expiration_date'],
  expired_url: [],
  utm_source: [],
  utm_medium: [],
  utm_campaign: [],
  utm_content: [],
} as const satisfies Record<string, readonly string[]>
export type ImportedField = keyof typeof importedColumns
export const importedFields = Object.keys(importedColumns) as ImportedField[]

const column = z.string().min(1).max(linkImportColumnLengthMax).optional()
const columns = z
  .strictObject(
    Object.fromEntries(importedFields.map((field) => [field, column])) as Record<ImportedField, typeof column>,
  )
  .default({})
  .meta({ description: 'Names of columns that have other names than usual, by field.' })

export const LinksImport = z
  .object({
    csv: z
      .string()
      .min(1)
      .max(linkImportBytesMax)
      .meta({ description: `A line with the names of columns, and up to ${linksImportedMax} rows.` }),
    columns,
  })
  .meta({
    id: 'TrackedLinksImport',
    examples: [{ csv: 'Title,Long URL\nPoster,https://example.com/pricing', columns: {} }],
  })

const importOutcomes = ['created', 'present', 'refused'] as const

const ImportedRow = z
  .object({
    row: z.int().meta({ description: 'From 1 on, behind the names of columns: rows are counted, not lines.' }),
    outcome: z.enum(importOutcomes).meta({ description: '`present`: there is such a link.' }),
    label: z.string(),
    key: z.string().nullable().meta({ description: 'Null: one is made.' }),
    domain: z.string().nullable().meta({ description: 'Null: the installation’s.' }),
    destination_url: z.string(),
    reason: z.string().nullable().meta({ description: 'Of a refusal.' }),
    link_id: z.int().nullable(),
  })
  .meta({ id: 'ImportedTrackedLink' })
export type ImportedRow = z.output<typeof ImportedRow>

const counts = { created: z.int().min(0), present: z.int().min(0), refused: z.int().min(0) }

export const LinksImported = z
  .object({
    ...counts,
    rows: z.array(ImportedRow),
    link_ids: z.array(z.int()).meta({ description: 'Of the links that were made.' }),
  })
  .meta({ id: 'ImportedTrackedLinks' })

export const LinksImportPreview = z
  .object({ ...counts, rows: z.array(ImportedRow) })
  .meta({ id: 'TrackedLinksImportPreview' })
