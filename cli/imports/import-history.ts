/**
 * Imports events with times of their own, around the public interface, which refuses old ones. Ingest's own code
 * validates and enriches them. Each line has a fixed `client_event_id`, so importing a file again changes nothing; see
 * row-store.ts. Held by test/integration/events-import.test.ts.
 */
import { createHmac } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { Workspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import { readableFrom } from '../../schemas/time/readable-from.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import { hiddenNotice } from '../replay/import-events.ts'
import { makeImportOwnership } from '../replay/import-ownership.ts'
import { retrying } from '../replay/store-once.ts'
import { enrichImported } from './enrich-imported.ts'
import type { ImportTurn } from './import-turn.ts'
import type { ImportedEvent, NotTaken } from './imported-event.ts'
import type { HistoryLine, OpenHistory } from './read-history.ts'
import { makeImportEnricher, openRowStore } from './row-store.ts'
import { makeTally, type Tallied } from './tally.ts'

interface HistoryOptions extends Pick<Invocation, 'installation' | 'progress' | 'signal'> {
  readonly files: readonly string[]
  readonly open: OpenHistory
  readonly workspace: Workspace
  /** Null: everything is done but storing. */
  readonly turn: ImportTurn | null
}

export interface HistorySummary {
  /** That aren't blank. */
  readonly lines: number
  /** That are valid: stored, known before, or both 0 without storing. */
  readonly events: number
  readonly stored: number
  readonly known_before: number
  /** Events of crawlers, which are stored as their visits. */
  readonly crawlers: number
  readonly refused: number
  readonly left_out: number
  readonly refused_by: readonly Tallied[]
  readonly left_out_by: readonly Tallied[]
  readonly first_occurred_at: string | null
  readonly last_occurred_at: string | null
}

export async function importFiles(options: HistoryOptions): Promise<HistorySummary> {
  const { files, open, installation, workspace, turn, progress, signal } = options
  const followed = makeImportOwnership(installation.postgres(), workspace.id)
  const { enricher } = await makeImportEnricher(installation, followed.ownership)
  const idKey = createHmac('sha256', (await installation.secretKey())!)
    .update('svc events import')
    .digest()
  const counts = { deduplicated: 0, retries: 0 }
  const store = turn === null ? null : openRowStore({ installation, turn, counts, signal })
  const [refused, leftOut] = [makeTally(), makeTally()]
  const now = Date.now()
  const oldest = readableFrom(workspace, now)
  let [lines, events, crawlers, hidden] = [0, 0, 0, 0]
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

  /** Undefined where the event is taken. */
  async function take(imported: ImportedEvent, line: HistoryLine, at: number): Promise<NotTaken | undefined> {
    const event = { ...imported.event, client_event_id: ownIdOf(imported.event) || idOf(idKey, line, at) }
    const read = enrichImported(enricher, { ...imported, event }, workspace, now)
    if ('refused' in read) return read
    const { enriched, occurredAt } = read
    if (enriched.stream === 'bot_visits') crawlers++
    events++
    if (occurredAt < oldest) hidden++
    first = Math.min(first, occurredAt)
    last = Math.max(last, occurredAt)
    await store?.add(enriched)
    return undefined
  }

  const progressOf = (file: number, share: number) =>
    `file ${file} of ${files.length}: ${(share * 100).toFixed(0)} % read; ${events} events in all`

  for (const [at, path] of files.entries()) {
    const [file, { size }] = [await open(path), await stat(path)]
    for await (const portion of file.lines) {
      if (signal.aborted) throw new CommandFailed('interrupted: the same command takes it up again')
      await retrying(signal, () => followed.learn(portion.flatMap(urlsOf)))
      for (const line of portion) {
        lines++
        const place = `${path}:${line.number}`
        for (const [nth, part] of partsOf(line).entries()) {
          const reason = 'event' in part ? await take(part, line, nth) : part
          if (reason === undefined) continue
          if ('refused' in reason) refused.add(reason.refused, place)
          else leftOut.add(reason.leftOut, place)
        }
      }
      progress.running(progressOf(at + 1, size === 0 ? 1 : file.bytesRead() / size))
    }
  }
  await store?.finish()
  progress.ended(progressOf(files.length, 1))
  if (hidden > 0) progress.line(hiddenNotice(hidden, workspace))
  return {
    lines,
    events,
    crawlers,
    refused: refused.total(),
    left_out: leftOut.total(),
    stored: store === null ? 0 : events - counts.deduplicated,
    known_before: counts.deduplicated,
    refused_by: refused.list(),
    left_out_by: leftOut.list(),
    first_occurred_at: events === 0 ? null : new Date(first).toISOString(),
    last_occurred_at: events === 0 ? null : new Date(last).toISOString(),
  }
}

/** A value that is no text stays, so that it is refused. */
function ownIdOf({ client_event_id: id }: ImportedEvent['event']): unknown {
  return typeof id === 'string' ? identifierOf(id) : id
}

/** Equal lines at one place get the same ids, one for each event. */
function idOf(key: Buffer, { number, text }: HistoryLine, nth: number): string {
  return createHmac('sha256', key).update(`${number} ${nth}\0`).update(text).digest('base64url')
}

function partsOf({ mapped }: HistoryLine): readonly (ImportedEvent | NotTaken)[] {
  return 'refused' in mapped || 'leftOut' in mapped ? [mapped] : mapped
}

function urlsOf(line: HistoryLine): string[] {
  return partsOf(line).flatMap((part) =>
    'event' in part && typeof part.event['url'] === 'string' ? [part.event['url']] : [],
  )
}
