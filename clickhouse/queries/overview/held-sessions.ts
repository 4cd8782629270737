/** Sessions that a reader holds, by when they begin: what those of an hour come to is counted once for as long as it can be. */
import type { Span } from '../../../schemas/time-range.ts'
import { type AggregateRow, aggregateRow } from '../../aggregates/aggregate-rows.ts'
import { DistinctSet } from '../../aggregates/distinct-set.ts'
import type { SessionSums } from '../../aggregates/session-changes.ts'
import { type HeldCounts, piecesOf, portionOf } from './held-rows.ts'

/** Sessions that count for one key of a dimension. Every list has one number for each, in one order. */
export interface SessionStarts {
  readonly dimension: string
  readonly key: string
  /** The medium, where the key is a source. */
  readonly detail: string
  /** Of their first events: milliseconds since 1970. */
  readonly ats: Float64Array
  readonly pageviews: Float64Array
  readonly events: Float64Array
  /** 1 or 0. */
  readonly bounces: Float64Array
  /** Milliseconds. */
  readonly durations: Float64Array
  /** Digests (distinct-set.ts); empty where visitors aren't counted. */
  readonly visitors: Float64Array
}

/** Whether what counts for a key of a dimension is asked for. */
export type IsKeyWanted = (dimension: string, key: string) => boolean

/** What a range and the one before take of the hour that one ends and the other begins in. */
const runsKept = 2

interface Run extends Span {
  readonly rows: readonly AggregateRow[]
}

/** What portions that follow each other came to, by what an hour was read as; used last, last. */
const runs = new WeakMap<readonly SessionStarts[], readonly Run[]>()

/** Of the portion that ranges begin or end inside of, all sessions: each question takes another part of them. */
const divided = new WeakMap<
  readonly SessionStarts[],
  { readonly start: number; readonly starts: readonly SessionStarts[] }
>()

/**
 * Rows of `agg_sessions`, without workspace and hour, of the sessions that begin in a part of an hour. Several may have equal keys.
 * @param hour when it begins, in milliseconds since 1970
 * @param starts all of its sessions; the same object for every question
 */
export function sessionsHeldIn(
  hour: number,
  starts: readonly SessionStarts[],
  part: Span,
  isWanted: IsKeyWanted,
): HeldCounts {
  const pieces = piecesOf(hour, part)
  const whole = pieces.filter(({ isWhole }) => isWhole)
  const lasting = whole.length === 0 ? [] : rowsOfRun(starts, { start: whole[0]!.start, end: whole.at(-1)!.end })
  return {
    lasting: lasting.filter(({ keys }) => isWanted(String(keys['dimension']), String(keys['key']))),
    passing: pieces
      .filter(({ isWhole }) => !isWhole)
      .flatMap((piece) => {
        const some = startsDivided(starts, portionOf(hour, piece))
        const wanted = some.filter(({ dimension, key }) => isWanted(dimension, key))
        return rowsBegunIn(wanted, piece)
      }),
  }
}

function rowsOfRun(starts: readonly SessionStarts[], { start, end }: Span): readonly AggregateRow[] {
  const kept = runs.get(starts) ?? []
  const known = kept.find((run) => run.start === start && run.end === end)
  const run = known ?? { start, end, rows: rowsBegunIn(starts, { start, end }) }
  // Each visitor once from now on.
  if (known === undefined) for (const { values } of run.rows) (values['visitors'] as DistinctSet).count()
  runs.set(starts, [...kept.filter((one) => one !== run), run].slice(-runsKept))
  return run.rows
}

function startsDivided(starts: readonly SessionStarts[], { start, end }: Span): readonly SessionStarts[] {
  const known = divided.get(starts)
  if (known?.start === start) return known.starts
  const some = starts.map((of) => startsBetween(of, start, end)).filter(({ ats }) => ats.length > 0)
  divided.set(starts, { start, starts: some })
  return some
}

function startsBetween(starts: SessionStarts, start: number, end: number): SessionStarts {
  const isBetween = (_: number, at: number) => starts.ats[at]! >= start && starts.ats[at]! < end
  return {
    ...starts,
    ats: starts.ats.filter(isBetween),
    pageviews: starts.pageviews.filter(isBetween),
    events: starts.events.filter(isBetween),
    bounces: starts.bounces.filter(isBetween),
    durations: starts.durations.filter(isBetween),
    visitors: starts.visitors.filter(isBetween),
  }
}

function rowsBegunIn(starts: readonly SessionStarts[], { start, end }: Span): AggregateRow[] {
  const found: AggregateRow[] = []
  for (const { dimension, key, detail, ats, pageviews, events, bounces, durations, visitors } of starts) {
    const sums = { sessions: 0, pageviews: 0, events: 0, bounces: 0, durationMs: 0 }
    const seen: number[] = []
    for (let place = 0; place < ats.length; place++) {
      if (ats[place]! < start || ats[place]! >= end) continue
      sums.sessions += 1
      sums.pageviews += pageviews[place]!
      sums.events += events[place]!
      sums.bounces += bounces[place]!
      sums.durationMs += durations[place]!
      if (visitors.length > 0) seen.push(visitors[place]!)
    }
    if (sums.sessions > 0) found.push(rowOf({ dimension, key, detail, ...sums }, seen))
  }
  return found
}

export function rowOfSessions({ visitors, ...sums }: SessionSums): AggregateRow {
  return rowOf(sums, [...visitors])
}

/** @param visitors digests, each as often as it likes */
function rowOf(sums: Omit<SessionSums, 'visitors'>, visitors: readonly number[]): AggregateRow {
  const { dimension, key, detail, sessions, pageviews, events, bounces, durationMs } = sums
  return aggregateRow(
    { dimension, key, detail },
    {
      ...{ sessions, pageviews, events, bounces, duration_ms: durationMs },
      visitors: DistinctSet.of('list', visitors),
    },
  )
}
