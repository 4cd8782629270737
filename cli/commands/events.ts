/** Events of the past, in and out. */
import { statSync } from 'node:fs'
import type { Queryable } from '../../postgres/client.ts'
import { isErasing } from '../../postgres/tables/people/erasures.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { eventNameLengthMax } from '../../schemas/limits/event-limits.ts'
import { readableFrom } from '../../schemas/time/readable-from.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, UsageError, workspaceOption } from '../command.ts'
import { exportEvents } from '../exports/export-events.ts'
import { openSink } from '../exports/open-sink.ts'
import { usualConversions } from '../imports/from-ga4.ts'
import { importFiles } from '../imports/import-history.ts'
import { inImportTurn } from '../imports/import-turn.ts'
import { makeHistoryReader, products } from '../imports/read-history.ts'
import { refuseOtherFile } from '../imports/recognize-file.ts'
import type { Tallied } from '../imports/tally.ts'
import { memberLines } from '../table.ts'

export const importHistory = defineCommand({
  name: 'events import',
  summary: 'Import events of the past with their own times; the same files again change nothing.',
  argument: 'FILE…',
  options: {
    from: {
      value: products.join('|'),
      meaning: 'The product that the files come from; without it they hold our own events.',
    },
    site: { value: 'URL', meaning: 'With --from umami: where pages belong that name no host.' },
    conversion: {
      value: 'NAME',
      isRepeatable: true,
      meaning: `With --from ga4: an event that is a conversion; ${usualConversions.join(', ')} when left out. Repeatable.`,
    },
    'event-data': { value: 'FILE', meaning: 'With --from umami: its table event_data, the properties of the events.' },
    'dry-run': { meaning: 'Read and check all, and store nothing.' },
    workspace: workspaceOption,
  },
  async run({ options, argument, moreArguments, installation, progress, signal }) {
    const data = options.text('event-data')
    // Before the events that take it up.
    const files = [...(data === undefined ? [] : [data]), argument, ...moreArguments]
    const missing = files.filter((path) => !statSync(path, { throwIfNoEntry: false }))
    if (missing.length > 0) throw new UsageError(`there is no file ${missing.join(', ')}`)
    const others = files.filter((path) => !statSync(path).isFile())
    if (others.length > 0) throw new UsageError(`folders and pipes are no files: ${others.join(', ')}`)
    if (options.text('from') === 'fathom')
      throw new UsageError('Fathom exports sums, not events, so they can’t be imported: docs/import.md#from-others')
    const from = options.oneOf('from', products)
    const site = options.httpUrl('site')?.origin
    const conversions = options.texts('conversion', eventNameLengthMax)
    if (site !== undefined && from !== 'umami') throw new UsageError('--site goes with --from umami only')
    if (data !== undefined && from !== 'umami') throw new UsageError('--event-data goes with --from umami only')
    if (conversions !== undefined && from !== 'ga4') throw new UsageError('--conversion goes with --from ga4 only')
    if (data !== undefined && files.indexOf(data, 1) > 0) throw new UsageError(`${data} can't be both data and events`)
    for (const path of [argument, ...moreArguments]) await refuseOtherFile(path, from)
    const isDryRun = options.flag('dry-run')
    const workspace = await installation.workspace(options.id('workspace'))
    const metadata = { files: files.length, ...(from !== undefined && { from }) }
    const audit = (tx: Queryable) => auditCommand(tx, workspace.id, 'events.import', null, metadata)
    const startedAt = performance.now()
    const open = makeHistoryReader(from, { site, dataPath: data, conversions })
    const reading = { files, open, workspace, installation, progress, signal }
    const summary = isDryRun
      ? await importFiles({ ...reading, turn: null })
      : await inImportTurn({ installation, workspaceId: workspace.id, signal }, async (turn) => {
          await installation.postgres().transaction(audit)
          return importFiles({ ...reading, turn })
        })
    const seconds = Math.round((performance.now() - startedAt) / 10) / 100
    return { workspace_id: workspace.id, dry_run: isDryRun, files: files.length, ...summary, seconds }
  },
  /** Where nothing was understood, the files are of another product. */
  exitCode: ({ events, refused }) => (events === 0 && refused > 0 ? 1 : 0),
  show: ({ refused_by, left_out_by, ...summary }) =>
    [
      memberLines(summary),
      ...refused_by.map((each) => `refused: ${tallyText(each)}`),
      ...left_out_by.map((each) => `left out: ${tallyText(each)}`),
    ].join('\n'),
})

function tallyText({ reason, count, first }: Tallied): string {
  return `${count} × ${reason} (${first.join(', ')}${count > first.length ? ' …' : ''})`
}

export const exportHistory = defineCommand({
  name: 'events export',
  summary: 'Export all events of a workspace as lines that `svc events import` takes.',
  options: {
    start: { value: 'TIME', meaning: 'The first moment; without it the first one that the workspace can read.' },
    end: { value: 'TIME', meaning: 'The moment before which the events were; now when left out.' },
    out: { value: 'FILE', meaning: 'A new file, gzipped where it ends with .gz; standard output when left out.' },
    workspace: workspaceOption,
  },
  printsItself: (options) => options.text('out') === undefined,
  async run({ options, installation, print, progress, signal }) {
    const now = Date.now()
    const end = options.time('end') ?? now
    const start = options.time('start')
    if (start !== undefined && start >= end) throw new UsageError('--start must be before --end')
    const workspace = await installation.workspace(options.id('workspace'))
    const readable = readableFrom(workspace, now)
    if (readable >= end) progress.line(`nothing of that time can be read: events before ${timeOf(readable)} can't`)
    const refuseWhileErasing = async () => {
      if (!(await isErasing(installation.postgres(), workspace.id, new Date(now)))) return
      throw new CommandFailed('somebody’s events are being removed from this workspace: export it once that is done')
    }
    await refuseWhileErasing()
    // Before the file is there.
    await installation.answeringClickhouse()
    const startedAt = performance.now()
    const sink = openSink(options.text('out'), print)
    try {
      await installation
        .postgres()
        .transaction((tx) => auditCommand(tx, workspace.id, 'events.export', null, { end: timeOf(end) }))
      const span = { workspaceId: workspace.id, start: start ?? readable, end, readableFrom: readable }
      const summary = await exportEvents({ installation, span, sink, progress, signal })
      await refuseWhileErasing()
      if ((await readWorkspace(installation.postgres(), workspace.id)) === null)
        throw new CommandFailed(`workspace ${workspace.id} was deleted meanwhile: the export lacks events of it`)
      await sink.close()
      const seconds = Math.round((performance.now() - startedAt) / 10) / 100
      return { workspace_id: workspace.id, readable_from: timeOf(readable), ...summary, seconds }
    } catch (error) {
      await sink.drop()
      throw error
    }
  },
  show: memberLines,
})

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
