/**
 * How figures add up, said once: the pipeline writes cells of days that are over by it, and the overview counts days that
 * have none yet by it.
 *
 * A session row makes several appearances, each with a kind and a key: the session itself, its entry's source, device,
 * browser and country, its pages, its visitor's first conversion of the day.
 */
import { cellKeysMax } from '../../schemas/limits.ts'
import { type VitalName, vitalNames } from '../../schemas/reference/web-vitals.ts'
import { vitalMetrics } from '../../schemas/row.ts'
import { vitalValue } from './vitals.ts'

/** As the column `cells.kind` numbers them. */
export const cellKinds = { all: 0, converting: 1, source: 2, device: 3, browser: 4, country: 5, page: 6 } as const
export type CellKind = keyof typeof cellKinds

/**
 * What of an appearance adds up over rows and days. Of sources, devices, browsers and countries `pageviews` and `events` are
 * those of the whole sessions.
 */
export const sumNames = ['sessions', 'continued', 'begun', 'bounces', 'duration_ms', 'pageviews', 'events'] as const
export type SumName = (typeof sumNames)[number]

interface AppearanceSql {
  readonly kind: CellKind
  readonly key?: string
  readonly detail?: string
  readonly prevDay?: string
  /** When the key appeared first in the row, in milliseconds. */
  readonly at?: string
  readonly sums?: Partial<Record<SumName, string>>
}

/** Without casts and functions where a number does: ClickHouse takes its time to analyze each. */
function tupleSql({
  kind,
  key = "''",
  detail = "''",
  prevDay = '65535',
  at = 'first_ms',
  sums = {},
}: AppearanceSql): string {
  return `(${[cellKinds[kind], key, detail, prevDay, at, ...sumNames.map((name) => sums[name] ?? 0)].join(',')})`
}

const ofEntry = (kind: CellKind, prevDay: string, detail = "''") =>
  tupleSql({
    ...{ kind, key: `toString(${kind})`, prevDay, detail },
    sums: { sessions: '1', pageviews: 'session_pageviews', events: 'session_events' },
  })

const appearancesSql = {
  all: `[${tupleSql({
    kind: 'all',
    prevDay: 'prev_day',
    sums: {
      ...{ sessions: 'visitor!=0', continued: 'continued', begun: 'begins', bounces: 'is_bounce' },
      ...{ duration_ms: 'duration_ms', pageviews: 'pageviews', events: 'events' },
    },
  })}]`,
  converting: `if(converting_prev_day<65535,[${tupleSql({
    ...{ kind: 'converting', prevDay: 'converting_prev_day', at: 'toUnixTimestamp64Milli(converted_at)' },
  })}],[])`,
  entry: `if(begins,[${[
    ofEntry('source', 'source_prev_day', 'toString(medium)'),
    ofEntry('device', 'device_prev_day'),
    ofEntry('browser', 'browser_prev_day'),
    ofEntry('country', 'country_prev_day'),
  ].join(',')}],[])`,
  entryPage: `if(has_entry,[${tupleSql({ kind: 'page', key: 'toString(entry_path)', sums: { begun: '1', bounces: 'is_bounce' } })}],[])`,
  page: `arrayMap((path,views,after,prev,cont)->${tupleSql({
    ...{ kind: 'page', key: 'toString(path)', prevDay: 'prev', at: 'first_ms+after' },
    sums: { sessions: 'visitor!=0', continued: 'cont', pageviews: 'views' },
  })},page_path,page_views,page_after_ms,page_prev_day,page_continued)`,
}

/** SQL of one row for each appearance in session rows: kind, key, detail, seen_before, at (milliseconds), and the sums. */
export function appearancesOf(where: string, wanted: 'all kinds' | 'totals' = 'all kinds'): string {
  const { all, converting, ...lists } = appearancesSql
  const some = wanted === 'totals' ? [all, converting] : [all, converting, ...Object.values(lists)]
  const names = ['kind', 'key', 'detail', 'seen_before', 'at', ...sumNames.map((name) => `n_${name}`)]
  return `SELECT workspace_id,build,day,visitor,session,${names.map((name, at) => `seen.${at + 1} AS ${name}`).join(',')}
    FROM (SELECT *,toUnixTimestamp64Milli(first_at) AS first_ms FROM sessions FINAL WHERE ${where}) ARRAY JOIN arrayConcat(${some.join(',')}) AS seen`
}

/** SQL of a conversion's kinds and keys, over `credits`: rows of (kind, key, detail). */
export function creditKeys(wanted: 'all kinds' | 'totals' = 'all kinds'): string {
  const key = (kind: CellKind, column = "''", detail = "''") => `(${cellKinds[kind]},${column},${detail})`
  const text = (column: string) => `toString(${column})`
  const lists = [
    key('source', text('source'), text('medium')),
    ...(['device', 'browser', 'country'] as const).map((kind) => key(kind, text(kind))),
    key('page', text('path')),
  ]
  return `arrayJoin([${[key('all'), ...(wanted === 'totals' ? [] : lists)].join(',')}])`
}

/** SQL of the kinds and keys of an event that is a sample of web vitals. */
const vitalKeys = `arrayJoin([(${cellKinds.all}, ''), (${cellKinds.page}, toString(path))])`

/** Columns of `cells` beside its key and version, with how parts that lack one say so, and how parts are put together. */
const cellColumns: Readonly<Record<string, readonly [none: string, merge: string]>> = {
  prev_days: ['emptyArrayUInt16()', 'groupArrayArray(?)'],
  prev_counts: ['emptyArrayUInt32()', 'groupArrayArray(?)'],
  ...Object.fromEntries(sumNames.map((name) => [name, ['toUInt64(0)', 'sum(?)'] as const])),
  conversions: ['toUInt64(0)', 'sum(?)'],
  title: ["(toDateTime64(0, 3, 'UTC'), toUInt64(0), '')", 'max(?)'],
  vital_metric: ['emptyArrayUInt8()', 'groupArrayArray(?)'],
  vital_value: ['emptyArrayUInt64()', 'groupArrayArray(?)'],
  vital_samples: ['emptyArrayUInt32()', 'groupArrayArray(?)'],
  metric_metric: ['emptyArrayUInt8()', 'groupArrayArray(?)'],
  metric_total: ['emptyArrayFloat64()', 'groupArrayArray(?)'],
  metric_latest: ["CAST([], 'Array(Tuple(DateTime64(3, \\'UTC\\'), UInt64, Float64))')", 'groupArrayArray(?)'],
}

function cellPart(source: string, values: Readonly<Record<string, string>>): string {
  const columns = Object.entries(cellColumns).map(([name, [none]]) => `${values[name] ?? none} AS ${name}`)
  return `SELECT workspace_id, build, day, kind, key, detail, ${columns.join(', ')} ${source}`
}

const cellKey = 'workspace_id, build, day, kind, key, detail'

/**
 * SQL of an INSERT of all cells of some days, each day whole: the day's cells are those of its newest version.
 * @param days condition over `sessions` and `credits`
 * @param events SQL of a subselect of events with build, day, `is_titled` (a pageview with a title) and `is_sample` (of web vitals)
 * @param visible condition over ids
 */
export function writeCellsSql(days: string, events: string, visible: string): string {
  const prevCounts = `(SELECT ${cellKey}, seen_before, count() AS appeared, ${sumNames.map((name) => `sum(n_${name}) AS ${name}`).join(', ')}
    FROM (${appearancesOf(days)}) GROUP BY ${cellKey}, seen_before)`
  const parts = [
    cellPart(`FROM ${prevCounts} AS counted GROUP BY ${cellKey}`, {
      prev_days: 'groupArrayIf(seen_before, seen_before != 65535)',
      prev_counts: 'groupArrayIf(toUInt32(appeared), seen_before != 65535)',
      ...Object.fromEntries(sumNames.map((name) => [name, `toUInt64(sum(counted.${name}))`])),
    }),
    cellPart(
      `FROM (SELECT workspace_id, build, day, ${creditKeys()} AS of, of.1 AS kind, of.2 AS key, of.3 AS detail
        FROM credits FINAL WHERE ${days} AND ${visible}) GROUP BY ${cellKey}`,
      { conversions: 'toUInt64(count())' },
    ),
    cellPart(
      `FROM (SELECT workspace_id, build, day, ${cellKinds.page} AS kind, toString(path) AS key, '' AS detail, occurred_at, id, toString(title) AS text
        FROM (${events}) WHERE is_titled) GROUP BY ${cellKey}`,
      { title: 'max((occurred_at, id, text))' },
    ),
    cellPart(
      `FROM (SELECT workspace_id, build, day, kind, key, '' AS detail, metric, value, count() AS samples
        FROM (SELECT workspace_id, build, day, toUInt8(metric) AS metric, ${vitalValue} AS value, ${vitalKeys} AS of, of.1 AS kind, of.2 AS key
          FROM (${events}) WHERE is_sample) GROUP BY ${cellKey}, metric, value) AS counted GROUP BY ${cellKey}`,
      {
        vital_metric: 'groupArray(toUInt8(counted.metric))',
        vital_value: 'groupArray(toUInt64(counted.value))',
        vital_samples: 'groupArray(toUInt32(counted.samples))',
      },
    ),
    cellPart(
      `FROM (SELECT workspace_id, build, day, ${cellKinds.all} AS kind, '' AS key, '' AS detail, toUInt8(metric) AS metric,
          sum(metric_value) AS total, max((occurred_at, id, metric_value)) AS latest
        FROM (${events}) WHERE is_sample GROUP BY ${cellKey}, metric) AS counted GROUP BY ${cellKey}`,
      {
        metric_metric: 'groupArray(toUInt8(counted.metric))',
        metric_total: 'groupArray(counted.total)',
        metric_latest: 'groupArray(counted.latest)',
      },
    ),
  ]
  const names = Object.keys(cellColumns)
  const merged = names.map((name) => `${cellColumns[name]![1].replace('?', `parts.${name}`)} AS ${name}`)
  return `INSERT INTO cells (${cellKey}, version, ${names.map((name) => `${name}`).join(', ')}, is_cut)
    SELECT workspace_id, build, day, CAST(kind, 'Enum8(${Object.entries(cellKinds)
      .map(([kind, number]) => `\\'${kind}\\' = ${number}`)
      .join(', ')})'), key, detail,
      {version:UInt64}, ${names.map((name) => `${name}`).join(', ')}, count() OVER (PARTITION BY workspace_id, build, day, kind) > ${cellKeysMax} AS is_cut
    FROM (SELECT ${cellKey}, ${merged.join(', ')} FROM (${parts.join(' UNION ALL ')}) AS parts GROUP BY ${cellKey})
    ORDER BY workspace_id, build, day, kind, ${cellWeight} DESC, key, detail
    LIMIT ${cellKeysMax} BY workspace_id, build, day, kind`
}

/** SQL of how large a key is on a day. */
export const cellWeight = 'pageviews + begun + conversions'

/** Metrics of web vitals by their numbers in `metric` columns. */
export const metricNames: ReadonlyMap<number, VitalName> = new Map(vitalNames.map((name) => [vitalMetrics[name], name]))
