/** Writes all events of a workspace that it may read, a line each, in order of time. */
import type { ReadableSpan } from '../../clickhouse/queries/reader.ts'
import { readStoredEvents, readStoredHours } from '../../clickhouse/queries/stored-events.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import { exportedLine } from './exported-line.ts'
import type { Sink } from './open-sink.ts'
import { readPeopleOf } from './read-people.ts'

interface ExportOptions extends Pick<Invocation, 'installation' | 'progress' | 'signal'> {
  readonly span: ReadableSpan
  readonly sink: Sink
}

export interface ExportSummary {
  readonly events: number
  /** That have somebody's e-mail. */
  readonly with_email: number
  readonly first_occurred_at: string | null
  readonly last_occurred_at: string | null
}

export async function exportEvents(options: ExportOptions): Promise<ExportSummary> {
  const { installation, span, sink, progress, signal } = options
  const [ch, pg] = [installation.clickhouse(), installation.postgres()]
  const hours = await readStoredHours(ch, span)
  let [events, withEmail] = [0, 0]
  let [first, last]: [string | null, string | null] = [null, null]
  for await (const portion of readStoredEvents(ch, span, hours)) {
    if (signal.aborted) throw new CommandFailed('interrupted')
    const personOf = await readPeopleOf(pg, span.workspaceId, portion)
    const lines: string[] = []
    for (const event of portion) {
      const person = personOf(event)
      if (person.email !== undefined) withEmail++
      lines.push(`${exportedLine(event, person)}\n`)
    }
    await sink.write(lines.join(''))
    events += portion.length
    first ??= timeOf(portion[0]!)
    last = timeOf(portion.at(-1)!)
    progress.running(`${events} of ${hours.events} events, up to ${last}`)
  }
  return { events, with_email: withEmail, first_occurred_at: first, last_occurred_at: last }
}

function timeOf({ occurred_at_ms }: { readonly occurred_at_ms: number }): string {
  return new Date(occurred_at_ms).toISOString()
}
