/**
 * How figures add up, said once: the pipeline writes cells of days that are over by it, and the overview reads both by it.
 *
 * A session's row counts for kinds and keys: `seen` has an element for each appearance (pipeline/fold/appearances.ts). A
 * cell's `seen` has the sums of a day's elements by key, and how many of them have which `prev_day`.
 */

import { vitalMetrics } from '../../schemas/event/row.ts'
import { cellKeysMax } from '../../schemas/limits/figure-limits.ts'
import { type VitalName, vitalNames } from '../../schemas/reference/web-vitals.ts'
import { addsNoVisitor, cellKinds, cellOfPage, sumNames } from './appearance.ts'
import { vitalValue } from './round-vital.ts'

const sumColumns = sumNames.map((name) => `seen.${name} AS ${name}`).join(',')

/**
 * SQL of a SELECT of each appearance in session rows: `columns`, then kind, key, detail, prev_day, and the sums.
 * @param which condition over columns of the sorting key, which is looked at before other columns are read
 */
export function seenInSessions(columns: string, where: string, which = '1'): string {
  return `SELECT ${columns},seen.kind AS kind,seen.key AS key,seen.detail AS detail,seen.prev_day AS prev_day,${sumColumns}
    FROM sessions FINAL ARRAY JOIN seen PREWHERE ${which} WHERE ${where}`
}

/** When an element of a session's `seen` appeared first; milliseconds since 1970. */
export const seenAt = 'toUnixTimestamp64Milli(first_at)+seen.after_ms'

const { all, page } = cellKinds
const day = 'workspace_id, build, day'
const cellKey = `${day}, kind, key, detail`
const noTime = "toDateTime64(0, 3, 'UTC')"
const sampleColumns = ['metric', 'values', 'counts', 'total', 'latest'] as const
const noSample = `0 AS metric, emptyArrayUInt64() AS values, emptyArrayUInt64() AS counts, 0. AS total, (${noTime}, toUInt64(0), 0., '') AS latest`
const noSeen = `emptyArrayUInt16() AS prev_days, emptyArrayUInt64() AS visitors, ${sumNames.map((name) => `0 AS ${name}`).join(', ')}`

/**
 * SQL of an INSERT of the cells of some days. All kinds are written, and all pages that had cells, so that vanished
 * ones are replaced too.
 * @param days SQL of a subselect of workspace_id, build, day
 * @param events SQL of a subselect of events with build, day, `is_titled` (a pageview with a title) and `is_sample` (of
 *   web vitals)
 */
export function writeCellsSql(days: string, events: string): string {
  const sums = (of: string) => sumNames.map((name) => `sum(${of}.${name}) AS ${name}`).join(', ')
  const byPrevDay = `SELECT ${cellKey}, prev_day, count() AS visitors, ${sums('appeared')}
    FROM (${seenInSessions(day, `(${day}) IN (${days})`)}) AS appeared GROUP BY ${cellKey}, prev_day`
  const isVisitor = `prev_day != ${addsNoVisitor}`
  const seen = `SELECT 'seen' AS part, ${cellKey}, groupArrayIf(prev_day, ${isVisitor}) AS prev_days, groupArrayIf(counted.visitors, ${isVisitor}) AS visitors,
      ${sums('counted')}, ${noSample}
    FROM (${byPrevDay}) AS counted GROUP BY ${cellKey}`
  const byValue = `SELECT ${day}, of.1 AS kind, of.2 AS key, of.3 AS metric, of.4 AS value, sum(of.5) AS n, sum(of.6) AS sum, max(of.7) AS newest
    FROM (SELECT ${day}, arrayJoin(if(is_titled, [${sampleOf(page, '0', '0', '0', '0.', '(occurred_at, id, 0., toString(title))')}], [
        ${sampleOf(all, 'toUInt8(metric)', 'bin', '1', 'toFloat64(metric_value)', "(occurred_at, id, toFloat64(metric_value), '')")},
        ${sampleOf(page, 'toUInt8(metric)', 'bin', '1', '0.')}])) AS of
      FROM (SELECT *, ${vitalValue} AS bin FROM (${events}) WHERE is_titled OR is_sample))
    GROUP BY ${day}, kind, key, metric, value`
  const samples = `SELECT 'sample' AS part, ${day}, kind, key, '' AS detail, ${noSeen}, metric,
      (arraySort(groupArrayIf((value, n), n > 0)) AS sorted).1 AS values, sorted.2 AS counts, sum(sum) AS total, max(newest) AS latest
    FROM (${byValue}) GROUP BY ${day}, kind, key, metric`
  const kinds = `SELECT 'none' AS part, ${day}, arrayJoin([${Object.values(cellKinds).join(', ')}]) AS kind,
      '' AS key, '' AS detail, ${noSeen}, ${noSample} FROM (${days})`
  const formerPages = `SELECT 'former' AS part, ${day}, ${page} AS kind, key, '' AS detail, ${noSeen}, ${noSample}
    FROM cells FINAL WHERE cells.kind = ${cellOfPage} AND (${day}) IN (${days})`
  const weighed = `SELECT *, sum(${cellWeight}) OVER (PARTITION BY ${cellKey}) AS weight
    FROM (${[seen, samples, kinds, formerPages].join(' UNION ALL ')})`
  const placed = `SELECT *, dense_rank() OVER (PARTITION BY ${day}, kind ORDER BY part IN ('none', 'former'), weight DESC, key, detail) AS place
    FROM (${weighed})`
  const isOfPage = `kind = ${page} AND part IN ('sample', 'former')`
  const ofPart = (part: string, column: string) =>
    `groupArrayIf(${column}, part = '${part}' AND place <= ${cellKeysMax})`
  return `INSERT INTO cells (${cellColumns.join(', ')})
    SELECT ${day}, row_kind, row_key, {version:UInt64}, ${seenColumns.map((name) => ofPart('seen', name)).join(', ')},
      ${sampleColumns.map((name) => ofPart('sample', name)).join(', ')}, maxIf(place, part = 'seen') > ${cellKeysMax}
    FROM (SELECT *, if(${isOfPage}, ${cellOfPage}, kind) AS row_kind, if(${isOfPage}, key, '') AS row_key FROM (${placed}))
    GROUP BY ${day}, row_kind, row_key`
}

function sampleOf(
  ...[kind, metric, value, n, total, latest = `(${noTime}, toUInt64(0), 0., '')`]: readonly (string | number)[]
): string {
  return `(toUInt8(${kind}), ${kind === page ? 'toString(path)' : "''"}, toUInt8(${metric}), toUInt64(${value}), toUInt8(${n}), ${total}, ${latest})`
}

const seenColumns = ['key', 'detail', 'prev_days', 'visitors', ...sumNames] as const

/** In the order in which they are written. */
export const cellColumns: readonly string[] = [
  'workspace_id',
  'build',
  'day',
  'kind',
  'key',
  'version',
  ...seenColumns.map((name) => `seen.${name}`),
  ...sampleColumns.map((name) => `sample.${name}`),
  'is_cut',
]

/** SQL of how large a key is on a day. */
const cellWeight = 'pageviews + begun + conversions'

/** Metrics of web vitals by their numbers in `metric` columns. */
export const metricNames: ReadonlyMap<number, VitalName> = new Map(vitalNames.map((name) => [vitalMetrics[name], name]))
