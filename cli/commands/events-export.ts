import { readableFrom } from '../../schemas/time/readable-from.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand, UsageError } from '../command.ts'
import { exportEvents } from '../exports/export-events.ts'
import { openSink } from '../exports/open-sink.ts'

export const exportHistory = defineCommand({
  name: 'events export',
  summary: 'Export all events of a workspace as lines that `svc events import` takes.',
  options: {
    start: { value: 'TIME', meaning: 'The first moment; without it the first one that the workspace can read.' },
    end: { value: 'TIME', meaning: 'The moment before which the events were; now when left out.' },
    out: { value: 'FILE', meaning: 'A new file, gzipped where it ends with .gz; standard output when left out.' },
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
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
    const startedAt = performance.now()
    const sink = openSink(options.text('out'), print)
    try {
      await installation
        .postgres()
        .transaction((tx) => auditCommand(tx, workspace.id, 'events.export', null, { end: timeOf(end) }))
      const span = { workspaceId: workspace.id, start: start ?? readable, end, readableFrom: readable }
      const summary = await exportEvents({ installation, span, sink, progress, signal })
      await sink.close()
      const seconds = Math.round((performance.now() - startedAt) / 10) / 100
      return { workspace_id: workspace.id, readable_from: timeOf(readable), ...summary, seconds }
    } catch (error) {
      await sink.drop()
      throw error
    }
  },
  show: (summary) =>
    Object.entries(summary)
      .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value ?? 'none'}`)
      .join('\n'),
})

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}
