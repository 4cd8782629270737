import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { emitLinksCreated } from '../../api/operations/links/emit-created.ts'
import { countOutcomes, type ImportedLinks, importRows } from '../../api/operations/links/import-rows.ts'
import {
  type ImportColumns,
  type LinkRow,
  readLinksCsv,
  UnreadableLinks,
} from '../../api/operations/links/read-links-csv.ts'
import type { Queryable } from '../../postgres/client.ts'
import { systemClock } from '../../runtime/clock.ts'
import type { PublicHosts } from '../../runtime/public-hosts.ts'
import { linkFileBytesMax, linkFileRowsMax, linksImportedMax } from '../../schemas/limits/api-limits.ts'
import { type ImportedField, importedFields } from '../../schemas/resources/link-import.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, UsageError, workspaceOption } from '../command.ts'
import { lockForImport } from '../imports/lock-workspace.ts'
import type { Installation } from '../installation.ts'

export const importLinkFile = defineCommand({
  name: 'links import',
  summary:
    'Import tracked links from a CSV file of Bitly, Dub, Rebrandly or Short.io; the same file again makes nothing.',
  argument: 'FILE',
  options: {
    workspace: workspaceOption,
    columns: { value: 'FIELD=NAME,…', meaning: 'Names of columns that the file has for fields.' },
    'dry-run': { meaning: 'Show what would be made, and make nothing.' },
  },
  async run({ options, argument, installation, signal }) {
    const columns = columnsOf(options.text('columns'))
    const { id: workspaceId, timezone } = await installation.workspace(options.id('workspace'))
    const pg = installation.postgres()
    const rows = readFile(argument, columns)
    const config = hostsOf(installation)
    const contextOf = (q: Queryable) => ({
      workspace: { id: workspaceId, timezone },
      stores: { pg: q },
      clock: systemClock,
      config,
    })
    if (options.flag('dry-run')) return resultOf(workspaceId, await importRows(rows, 'preview', contextOf(pg)))
    const all: ImportedLinks = { rows: [], links: [] }
    for (let at = 0; at < rows.length; at += linksImportedMax) {
      signal.throwIfAborted()
      const some = await pg.transaction(async (tx) => {
        await lockForImport(tx, workspaceId)
        const imported = await importRows(rows.slice(at, at + linksImportedMax), 'import', contextOf(tx))
        await emitLinksCreated(tx, workspaceId, imported.links, config.shortUrlHost)
        const link_ids = imported.links.map(({ id }) => id)
        if (link_ids.length > 0) await auditCommand(tx, workspaceId, 'link.import', null, { link_ids })
        return imported
      })
      all.rows.push(...some.rows)
      all.links.push(...some.links)
    }
    return resultOf(workspaceId, all)
  },
  show: ({ workspace_id, created, present, refused, refusals }) =>
    [
      `links of workspace ${workspace_id}: ${created} created, ${present} there already, ${refused} refused`,
      ...refusals.map(({ row, label, reason }) => `row ${row}, ${label || 'without a label'}: ${reason}`),
    ].join('\n'),
})

/** With a root of short links of its own, the API's isn't asked for: it is empty where it isn't set. */
function hostsOf({ config, publicUrl }: Installation): PublicHosts {
  if (config.shortUrlHost !== undefined) return { apiHost: config.apiHost ?? '', shortUrlHost: config.shortUrlHost }
  const apiHost = publicUrl()
  return { apiHost, shortUrlHost: `${apiHost}/l` }
}

function resultOf(workspaceId: number, { rows }: ImportedLinks) {
  const refusals = rows.filter(({ outcome }) => outcome === 'refused')
  return { workspace_id: workspaceId, ...countOutcomes(rows), refusals }
}

/** @throws UsageError for a field that there isn't */
function columnsOf(text: string | undefined): ImportColumns {
  if (text === undefined) return {}
  const pairs = text.split(',').map((pair) => {
    const [field = '', ...name] = pair.split('=')
    if (importedFields.includes(field as ImportedField) && name.length > 0) return [field, name.join('=')]
    throw new UsageError(`--columns takes FIELD=NAME with ${importedFields.join(', ')}, got \`${pair}\``)
  })
  return Object.fromEntries(pairs)
}

/** @throws CommandFailed */
function readFile(path: string, columns: ImportColumns): LinkRow[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) throw new CommandFailed(`there is no file ${path}`)
  if (found.size > linkFileBytesMax) throw new CommandFailed(`${path} has more than ${linkFileBytesMax} bytes`)
  const bytes = readFileSync(path)
  // Else letters of another encoding would be lost without a word.
  if (!isUtf8(bytes)) throw new CommandFailed(`${path} isn't text in UTF-8`)
  try {
    return readLinksCsv(bytes.toString('utf8'), columns, linkFileRowsMax)
  } catch (error) {
    if (error instanceof UnreadableLinks) throw new CommandFailed(`${path}: ${error.message}`)
    throw error
  }
}
