/** What a session comes to, and what it adds to `agg_sessions`: said once for aggregates and for the raw rows beside them. */
import { bounceEngagementMs } from '../../schemas/limits.ts'
import { browserKey, countryKey, deviceKey, mediumKey, sourceKey } from './event-keys.ts'
import { setFunction } from './tables.ts'

/** SQL of a row by which its session is no bounce. */
export const isAct = "kind IN ('conversion', 'custom')"

/** SQL: a session is a bounce, by its pageviews, its acts, and the milliseconds of its engagement (docs/metrics.md). */
export function bounceSql(pageviews: string, acts: string, engagement: string): string {
  return `${pageviews} = 1 AND ${acts} = 0 AND ${engagement} < ${bounceEngagementMs}`
}

/** SQL of the first of a session's rows, to be named `first`: its time and id, and the facts that `ofFirst` has. */
export const firstOfSession = `min((occurred_at, id, visitor, ${sourceKey}, ${mediumKey}, ${deviceKey}, ${browserKey}, ${countryKey}))`
export const ofFirst = {
  visitor: 'first.3',
  source: 'first.4',
  medium: 'first.5',
  device: 'first.6',
  browser: 'first.7',
  country: 'first.8',
} as const

/** SQL of what a session is counted under. */
export interface SessionKeys {
  readonly source: string
  readonly medium: string
  readonly device: string
  readonly browser: string
  readonly country: string
  /** Condition: it has a pageview. */
  readonly hasEntry: string
  readonly entryPath: string
}

/** SQL of a session's entries: (dimension, key, detail). */
export function sessionEntriesSql(keys: SessionKeys): string {
  const { source, medium, device, browser, country, hasEntry, entryPath } = keys
  return `arrayConcat([
    ('total', '', ''), ('source', ${source}, ${medium}), ('device', ${device}, ''), ('browser', ${browser}, ''), ('country', ${country}, '')],
    if(${hasEntry}, [('entry', ${entryPath}, '')], []))`
}

/** SQL of what is counted of a session. */
export interface SessionCounts {
  /** 1, or what stands for it. */
  readonly sessions: string
  readonly visitor: string
  readonly pageviews: string
  readonly events: string
  readonly isBounce: string
  readonly durationMs: string
}

/**
 * SQL select list of the keys of `agg_sessions` and its columns, from rows of sessions with an `entry` each.
 * @param side the columns that say how often a row counts, and whether its visitor is to be added to sets
 */
export function sessionSumsSql(
  counts: SessionCounts,
  side?: { readonly sign: string; readonly isNew: string },
): string {
  const { sessions, visitor, pageviews, events, isBounce, durationMs } = counts
  const sum = (value: string) => `toInt64(sum(${side === undefined ? value : `${side.sign} * ${value}`}))`
  return `entry.1 AS dimension, entry.2 AS key, entry.3 AS detail,
      ${sum(sessions)} AS sessions, ${sum(pageviews)} AS pageviews, ${sum(events)} AS events,
      ${sum(isBounce)} AS bounces, ${sum(durationMs)} AS duration_ms,
      ${setFunction('list', 'StateIf')}(${visitor}, ${side?.isNew ?? '1'} AND dimension NOT IN ('total', 'entry')) AS visitors`
}
