/**
 * Imports events with times of their own, around the public interface, which refuses old ones. Ingest's own code
 * validates and enriches them. Each line has a fixed `client_event_id`, so importing a file again changes nothing; see
 * row-store.ts. Held by test/integration/events-import.test.ts.
 */
import { createHmac } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { nowhere, type Place } from '../../ingest/enrich/countries.ts'
import type { Workspace } from '../../postgres/tables/workspaces.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { validateBatchEvent } from '../../schemas/event/event-validator.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import { devices } from '../../schemas/event/row.ts'
import { findUnstorableText } from '../../schemas/json-text.ts'
import { importedFromMs } from '../../schemas/limits/event-limits.ts'
import { isCountryCode } from '../../schemas/reference/country-zones.ts'
import { areaOf } from '../../schemas/reference/places.ts'
import { explainEventTime, parseEventTime } from '../../schemas/time/date-time.ts'
import { readableFrom } from '../../schemas/time/readable-from.ts'
import { CommandFailed, type Invocation } from '../command.ts'
import { hiddenLine } from '../replay/import-events.ts'
import { makeImportOwnership } from '../replay/import-ownership.ts'
import { retrying } from '../replay/store-once.ts'
import type { ImportTurn } from './import-turn.ts'
import type { ImportedEvent, KnownVisitor } from './imported-event.ts'
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

  /** Undefined, or why the event is refused. */
  async function take(
    { event: sent, visitor }: ImportedEvent,
    line: HistoryLine,
    at: number,
  ): Promise<string | undefined> {
    const event = {
      ...sent,
      client_event_id: ownIdOf(sent) || idOf(idKey, line, at),
    } as unknown as TrackEvent
    const read = readEvent(event, workspace.timezone, now)
    if (typeof read === 'string') return read
    const sender = { address: '', userAgent: '', ...placeOf(visitor), receivedAt: read.occurredAt }
    // Received when it happened. The clock that `sent_at` would correct has been forgotten.
    const enriched = enricher.enrich({ ...event, occurred_at: null, sent_at: null }, sender, workspace)
    if (enriched.stream === 'rejected') return reasonOf(enriched.detail)
    if (enriched.stream === 'bot_visits') crawlers++
    else if (visitor !== undefined) {
      const { row } = enriched
      if (row.device === devices.unknown && visitor.device !== undefined) row.device = devices[visitor.device]
      row.browser ||= visitor.browser ?? ''
      row.os ||= visitor.os ?? ''
    }
    events++
    if (read.occurredAt < oldest) hidden++
    first = Math.min(first, read.occurredAt)
    last = Math.max(last, read.occurredAt)
    await store?.add(enriched)
    return undefined
  }

  for (const [at, path] of files.entries()) {
    const [file, { size }] = [await open(path), await stat(path)]
    for await (const portion of file.lines) {
      if (signal.aborted) throw new CommandFailed('interrupted: the same command takes it up again')
      await retrying(signal, () => followed.learn(portion.flatMap(urlsOf)))
      for (const line of portion) {
        lines++
        const place = `${path}:${line.number}`
        const { mapped } = line
        if ('refused' in mapped) refused.add(mapped.refused, place)
        else if ('leftOut' in mapped) leftOut.add(mapped.leftOut, place)
        else {
          for (const [nth, event] of mapped.entries()) {
            const reason = await take(event, line, nth)
            if (reason !== undefined) refused.add(reason, place)
          }
        }
      }
      const share = size === 0 ? 100 : (file.bytesRead() / size) * 100
      progress.running(`file ${at + 1} of ${files.length}: ${share.toFixed(0)} % read; ${events} events in all`)
    }
  }
  await store?.finish()
  if (hidden > 0) progress.line(hiddenLine(hidden, workspace))
  return {
    ...{ lines, events, crawlers, refused: refused.total(), left_out: leftOut.total() },
    ...{ stored: store === null ? 0 : events - counts.deduplicated, known_before: counts.deduplicated },
    ...{ refused_by: refused.list(), left_out_by: leftOut.list() },
    first_occurred_at: events === 0 ? null : new Date(first).toISOString(),
    last_occurred_at: events === 0 ? null : new Date(last).toISOString(),
  }
}

/** The event's time in milliseconds since 1970 UTC, or why it is refused. */
function readEvent(event: TrackEvent, timezone: string, now: number): { occurredAt: number } | string {
  const faults = validateBatchEvent(event, 0, findUnstorableText([], event).length > 0)
  if (faults !== null) return reasonOf(faults)
  if (!event.occurred_at) return 'occurred_at: Field required'
  const occurredAt = parseEventTime(event.occurred_at, timezone)
  if (Number.isNaN(occurredAt)) return reasonOf([explainEventTime(['occurred_at'], event.occurred_at)!])
  if (occurredAt > now) return 'occurred_at: later than now'
  if (occurredAt < importedFromMs) return `occurred_at: before ${new Date(importedFromMs).getUTCFullYear()}`
  return { occurredAt }
}

/** The first fault, by the name of its field. */
function reasonOf([fault]: readonly { readonly loc: readonly (string | number)[]; readonly msg: string }[]): string {
  const { loc, msg } = fault!
  const field = loc.find((part) => typeof part === 'string' && part !== 'body' && part !== 'events')
  return `${field ?? 'the event'}: ${msg}`
}

/** A value that is no text stays, so that it is refused. */
function ownIdOf({ client_event_id: id }: ImportedEvent['event']): unknown {
  return typeof id === 'string' ? identifierOf(id) : id
}

/** Equal lines at one place get the same ids, one for each event. */
function idOf(key: Buffer, { number, text }: HistoryLine, nth: number): string {
  return createHmac('sha256', key).update(`${number} ${nth}\0`).update(text).digest('base64url')
}

function placeOf(visitor: KnownVisitor | undefined): Place {
  const country = visitor?.country?.toUpperCase() ?? ''
  return isCountryCode(country) ? { country, area: areaOf(country, visitor!) } : nowhere
}

function urlsOf({ mapped }: HistoryLine): string[] {
  if ('refused' in mapped || 'leftOut' in mapped) return []
  return mapped.flatMap(({ event: { url } }) => (typeof url === 'string' ? [url] : []))
}
