import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { linksImportedMax } from '../../../schemas/limits/api-limits.ts'
import { LinksImport, LinksImported, LinksImportPreview } from '../../../schemas/resources/link-import.ts'
import { defineOperation } from '../define.ts'
import { emitLinksCreated } from './emit-created.ts'
import { countOutcomes, importRows } from './import-rows.ts'
import { type ImportColumns, type LinkRow, readLinksCsv, UnreadableLinks } from './read-links-csv.ts'

export const previewLinksImport = defineOperation({
  name: 'link.import_preview',
  http: { method: 'POST', path: '/v1/links/import/preview' },
  summary: 'Show what an import of tracked links would make.',
  description: 'Nothing is changed.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:write',
  input: { body: LinksImport },
  output: LinksImportPreview,
  async handle(context) {
    const { rows } = await importRows(rowsOf(context.body), 'preview', context)
    return { ...countOutcomes(rows), rows }
  },
})

export const importLinks = defineOperation({
  name: 'link.import',
  http: { method: 'POST', path: '/v1/links/import' },
  summary: 'Import tracked links from CSV, as other products export them.',
  description: 'A row that is refused keeps no other from being made. The same rows again make nothing.',
  tag: 'Links',
  effect: 'create',
  scope: 'links:write',
  input: { body: LinksImport },
  output: LinksImported,
  emits: 'link.created',
  writesOutbox: true,
  auditIds: ['link_ids'],
  async handle(context) {
    const { body, workspace, stores, config } = context
    const { rows, links } = await importRows(rowsOf(body), 'import', context)
    await emitLinksCreated(stores.pg, workspace.id, links, config.shortUrlHost)
    return { ...countOutcomes(rows), rows, link_ids: links.map(({ id }) => id) }
  },
})

/** @throws Problem 422 */
function rowsOf({ csv, columns }: { readonly csv: string; readonly columns: ImportColumns }): LinkRow[] {
  try {
    return readLinksCsv(csv, columns, linksImportedMax)
  } catch (error) {
    if (error instanceof UnreadableLinks) throw invalid([valueError(['body', 'csv'], csv, error.message)])
    throw error
  }
}
