/**
 * The aggregate tables: what their rows are counted by, how each column is counted from raw rows where that is a matter of
 * one row at a time, and how it is merged. The tables themselves stand in migrations/0003_aggregates.sql; held together by
 * test/integration/aggregates.test.ts.
 */

export interface ColumnOfAggregate {
  /** From rows of `events`; undefined where it takes more than single rows (session-starts.ts, credits.ts). */
  readonly fromEvents?: string
  /** Of several rows of the table with equal keys, one value of the same type. `?` stands for the column. */
  readonly merge: string
  /** What readers see of the merged value, to compare two computations. */
  readonly shown: string
}

export interface AggregateTable {
  readonly name: AggregateName
  /** Beside workspace and hour. */
  readonly keys: readonly string[]
  readonly columns: Readonly<Record<string, ColumnOfAggregate>>
  /** Which rows of `events` it is counted from, where `fromEvents` are given. */
  readonly events?: string
  /** How each key is had from a row of `events`, where it isn't a column of the same name. */
  readonly keysFromEvents?: Readonly<Record<string, string>>
  /** Whether there are rows of whole days. */
  readonly hasDays: boolean
}

export type AggregateName =
  | 'agg_traffic'
  | 'agg_pages'
  | 'agg_vitals'
  | 'agg_page_vitals'
  | 'agg_sessions'
  | 'agg_conversions'
  | 'agg_touches'

const sum = (fromEvents?: string): ColumnOfAggregate => ({
  ...(fromEvents === undefined ? {} : { fromEvents: `toInt64(${fromEvents})` }),
  merge: 'sum(?)',
  shown: 'sum(?)',
})

/** Sums of floats depend on their order in the last digits. */
const total = (fromEvents: string): ColumnOfAggregate => ({ fromEvents, merge: 'sum(?)', shown: 'round(sum(?), 3)' })

/** A set of distinct values. Totals and series are promised exact to 10,000, lists within one per cent. */
const distinct = (of: 'total' | 'list', column?: string, condition = '1'): ColumnOfAggregate => {
  const [name, precision] = of === 'total' ? ['uniqCombined64', 19] : ['uniqCombined', 17]
  return {
    ...(column === undefined ? {} : { fromEvents: `${name}StateIf(${precision})(${column}, ${condition})` }),
    merge: `${name}MergeState(${precision})(?)`,
    shown: `${name}Merge(${precision})(?)`,
  }
}

/** The value of the newest row, in a tuple behind its time and id. */
const newest = (fromEvents?: string): ColumnOfAggregate => ({
  ...(fromEvents === undefined ? {} : { fromEvents }),
  merge: 'max(?)',
  shown: 'max(?)',
})

const isSample = "kind = 'web_vital' AND metric != 'none'"
const vitalTotal = (metric: string) => total(`sumIf(metric_value, kind = 'web_vital' AND metric = '${metric}')`)
const vitalLatest = (metric: string) =>
  newest(`maxIf((occurred_at, id, metric_value), kind = 'web_vital' AND metric = '${metric}')`)

/**
 * SQL of a sample in millionths, rounded up to three digits or so: at most half a per cent, and never over a threshold of
 * web vitals, all of which it leaves as they are. Steps of 1/200, 1/100, 1/40 of the leading digit's place.
 */
const vitalValue = (() => {
  const millionths = 'toUInt64(ceil(greatest(metric_value, 0) * 1e6 - 1e-3))'
  const place = `toUInt64(exp10(length(toString(${millionths})) - 1))`
  const step = `greatest(intDiv(${place}, multiIf(${millionths} < 2 * ${place}, 200, ${millionths} < 5 * ${place}, 100, 40)), 1)`
  return `toUInt64(intDiv(${millionths} + ${step} - 1, ${step}) * ${step})`
})()

const isView = "kind = 'pageview' AND visitor != 0"

export const aggregateTables: Readonly<Record<AggregateName, AggregateTable>> = {
  agg_traffic: {
    name: 'agg_traffic',
    keys: [],
    hasDays: true,
    events: '1',
    columns: {
      pageviews: sum("countIf(kind = 'pageview')"),
      events: sum('count()'),
      conversions: sum("countIf(kind = 'conversion')"),
      shown_events: sum("countIf(kind NOT IN ('web_vital', 'page_leave'))"),
      visitors: distinct('total', 'visitor', 'visitor != 0'),
      sessions: distinct('total', 'session', 'visitor != 0'),
      converting: distinct('total', 'visitor', "kind = 'conversion' AND visitor != 0"),
      fcp_total: vitalTotal('FCP'),
      lcp_total: vitalTotal('LCP'),
      inp_total: vitalTotal('INP'),
      cls_total: vitalTotal('CLS'),
      fcp_latest: vitalLatest('FCP'),
      lcp_latest: vitalLatest('LCP'),
      inp_latest: vitalLatest('INP'),
      cls_latest: vitalLatest('CLS'),
    },
  },
  agg_pages: {
    name: 'agg_pages',
    keys: ['path'],
    hasDays: true,
    events: "kind IN ('pageview', 'conversion', 'web_vital')",
    columns: {
      pageviews: sum("countIf(kind = 'pageview')"),
      conversions: sum("countIf(kind = 'conversion')"),
      samples: sum(`countIf(${isSample})`),
      visitors: distinct('list', 'visitor', isView),
      sessions: distinct('list', 'session', isView),
      title: newest("maxIf((occurred_at, id, title), kind = 'pageview' AND title != '')"),
    },
  },
  agg_vitals: {
    name: 'agg_vitals',
    keys: ['metric', 'value'],
    keysFromEvents: { value: vitalValue },
    hasDays: true,
    events: isSample,
    columns: { samples: sum('count()') },
  },
  agg_page_vitals: {
    name: 'agg_page_vitals',
    keys: ['path', 'metric', 'value'],
    keysFromEvents: { value: vitalValue },
    hasDays: true,
    events: isSample,
    columns: { samples: sum('count()') },
  },
  agg_sessions: {
    name: 'agg_sessions',
    keys: ['dimension', 'key', 'detail'],
    hasDays: true,
    columns: {
      sessions: sum(),
      pageviews: sum(),
      events: sum(),
      bounces: sum(),
      duration_ms: sum(),
      visitors: distinct('list'),
    },
  },
  agg_conversions: {
    name: 'agg_conversions',
    keys: [
      ...['occurred_at', 'id', 'touched_at', 'source', 'medium', 'session_source', 'session_medium'],
      ...['device', 'browser', 'country'],
    ],
    hasDays: false,
    columns: { conversions: sum() },
  },
  agg_touches: {
    name: 'agg_touches',
    keys: ['visitor'],
    hasDays: false,
    events: "visitor != 0 AND source NOT IN ('', 'direct')",
    columns: { touch: newest('max((occurred_at, id, toString(source), toString(medium)))') },
  },
}

/** SQL of an event's UTC hour, in hours since 1970. */
export const hourOfEvent = 'toUInt32(intDiv(toUnixTimestamp64Milli(occurred_at), 3600000))'

/** SQL select list of a table's own columns: counted from rows of `events`, each named as its column. */
export function countedColumns({ columns }: AggregateTable): string {
  return Object.entries(columns)
    .map(([name, { fromEvents }]) => `${fromEvents} AS ${name}`)
    .join(', ')
}

/** SQL expression list of a table's keys, from rows of `events`. */
export function keysOfEvent({ keys, keysFromEvents = {} }: AggregateTable): string[] {
  return keys.map((key) => (key in keysFromEvents ? `${keysFromEvents[key]} AS ${key}` : key))
}
