/**
 * The aggregate tables: what their rows are counted by, how each column is counted from raw rows where that is a matter of
 * one row at a time, and how it is merged. The tables themselves stand in migrations, from 0003_aggregates.sql on; held together by
 * test/integration/aggregates.test.ts.
 */
import type { SetKind } from './distinct-set.ts'
import { hasVisitor, type SingleRow } from './rows-at-hand.ts'

export interface ColumnOfAggregate {
  /** What its values are: numbers that add up, sets of distinct values, or the newest of values with their times and ids. */
  readonly form: 'sum' | 'newest' | SetKind
  /** From rows of `events`; undefined where it takes more than single rows (session-starts.ts, credits.ts). */
  readonly fromEvents?: string
  /** What one row adds, for rows that are at hand: a number, the digest of what goes into the set, the value. Undefined: nothing. */
  readonly ofRow?: (row: SingleRow) => number | string | undefined
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
  /** The same of a row at hand. */
  readonly isCounted?: (row: SingleRow) => boolean
  /** How a key is had from a row at hand, where it isn't the text of the same name. */
  readonly keysOfRow?: Readonly<Record<string, (row: SingleRow) => number>>
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

const sum = (fromEvents?: string, ofRow?: (row: SingleRow) => number): ColumnOfAggregate => ({
  form: 'sum',
  ...(fromEvents === undefined ? {} : { fromEvents: `toInt64(${fromEvents})` }),
  ...(ofRow && { ofRow }),
  merge: 'sum(?)',
  shown: 'sum(?)',
})

/** Sets of distinct values. Totals and series are promised exact to 10,000, lists within one per cent. */
const sets: Readonly<Record<SetKind, readonly [string, number]>> = {
  total: ['uniqCombined64', 19],
  list: ['uniqCombined', 17],
}

/** SQL of the function over sets of a kind that has these words behind its name: `State`, `StateIf`, `Merge`, `MergeState`. */
export function setFunction(kind: SetKind, words: string): string {
  const [name, precision] = sets[kind]
  return `${name}${words}(${precision})`
}

const distinct = (
  kind: SetKind,
  column?: 'visitor' | 'session',
  condition = '1',
  isCounted: (row: SingleRow) => boolean = () => true,
): ColumnOfAggregate => ({
  form: kind,
  ...(column && {
    fromEvents: `${setFunction(kind, 'StateIf')}(${column}, ${condition})`,
    ofRow: (row) => (isCounted(row) ? (column === 'visitor' ? row.visitorDigest : row.sessionDigest) : undefined),
  }),
  merge: `${setFunction(kind, 'MergeState')}(?)`,
  shown: `${setFunction(kind, 'Merge')}(?)`,
})

/** The value of the newest row, in a tuple behind its time and id. */
const newest = (fromEvents: string, ofRow?: ColumnOfAggregate['ofRow']): ColumnOfAggregate => ({
  form: 'newest',
  fromEvents,
  ...(ofRow && { ofRow }),
  merge: 'max(?)',
  shown: 'max(?)',
})

const isSample = "kind = 'web_vital' AND metric != 'none'"
const isSampleRow = ({ kind, metric }: SingleRow) => kind === 'web_vital' && metric !== 'none'
const isVital = (metric: string) => `kind = 'web_vital' AND metric = '${metric}'`
const isVitalRow = (name: string) => (row: SingleRow) => isSampleRow(row) && row.metric === name
/** Sums of floats depend on their order in the last digits. */
const vitalTotal = (metric: string): ColumnOfAggregate => ({
  form: 'sum',
  fromEvents: `sumIf(metric_value, ${isVital(metric)})`,
  ofRow: (row) => (isVitalRow(metric)(row) ? row.value : 0),
  merge: 'sum(?)',
  shown: 'round(sum(?), 3)',
})
const vitalLatest = (metric: string) =>
  newest(`maxIf((occurred_at, id, metric_value), ${isVital(metric)})`, (row) =>
    isVitalRow(metric)(row) ? row.value : undefined,
  )

/**
 * SQL of a sample in millionths, rounded up to three digits or so: at most half a per cent, and never over a threshold of
 * web vitals, all of which it leaves as they are. Steps of 1/200, 1/100, 1/40 of the leading digit's place. Each part has a
 * name, because ClickHouse takes its time for every one that is written twice.
 */
const vitalValue = `toUInt64(intDiv(
  (toUInt64(ceil(greatest(metric_value, 0) * 1e6 - 1e-3)) AS millionths) + (greatest(intDiv(
    (toUInt64(exp10(length(toString(millionths)) - 1)) AS place),
    multiIf(millionths < 2 * place, 200, millionths < 5 * place, 100, 40)), 1) AS step) - 1, step) * step)`

/** The same of a row at hand. */
function vitalValueOf({ value }: SingleRow): number {
  const millionths = Math.max(0, Math.ceil(Math.max(value, 0) * 1e6 - 1e-3))
  const place = 10 ** (String(millionths).length - 1)
  const step = Math.max(1, Math.floor(place / (millionths < 2 * place ? 200 : millionths < 5 * place ? 100 : 40)))
  return Math.floor((millionths + step - 1) / step) * step
}

const isView = "kind = 'pageview' AND visitor != 0"
const isPageview = ({ kind }: SingleRow) => kind === 'pageview'
const isConversion = ({ kind }: SingleRow) => kind === 'conversion'
const isViewRow = (row: SingleRow) => isPageview(row) && hasVisitor(row)
const one = (isCounted: (row: SingleRow) => boolean) => (row: SingleRow) => Number(isCounted(row))

export const aggregateTables: Readonly<Record<AggregateName, AggregateTable>> = {
  agg_traffic: {
    name: 'agg_traffic',
    keys: [],
    hasDays: true,
    events: '1',
    isCounted: () => true,
    columns: {
      pageviews: sum("countIf(kind = 'pageview')", one(isPageview)),
      events: sum('count()', () => 1),
      conversions: sum("countIf(kind = 'conversion')", one(isConversion)),
      shown_events: sum("countIf(kind NOT IN ('web_vital', 'page_leave'))", ({ kind }) =>
        kind === 'web_vital' || kind === 'page_leave' ? 0 : 1,
      ),
      visitors: distinct('total', 'visitor', 'visitor != 0', hasVisitor),
      sessions: distinct('total', 'session', 'visitor != 0', hasVisitor),
      converting: distinct(
        'total',
        'visitor',
        "kind = 'conversion' AND visitor != 0",
        (row) => isConversion(row) && hasVisitor(row),
      ),
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
    isCounted: (row) => isPageview(row) || isConversion(row) || row.kind === 'web_vital',
    columns: {
      pageviews: sum("countIf(kind = 'pageview')", one(isPageview)),
      conversions: sum("countIf(kind = 'conversion')", one(isConversion)),
      samples: sum(`countIf(${isSample})`, one(isSampleRow)),
      visitors: distinct('list', 'visitor', isView, isViewRow),
      sessions: distinct('list', 'session', isView, isViewRow),
      title: newest("maxIf((occurred_at, id, title), kind = 'pageview' AND title != '')", (row) =>
        isPageview(row) && row.title !== '' ? row.title : undefined,
      ),
    },
  },
  agg_vitals: {
    name: 'agg_vitals',
    keys: ['metric', 'value'],
    keysFromEvents: { value: vitalValue },
    hasDays: true,
    events: isSample,
    isCounted: isSampleRow,
    keysOfRow: { value: vitalValueOf },
    columns: { samples: sum('count()', () => 1) },
  },
  agg_page_vitals: {
    name: 'agg_page_vitals',
    keys: ['path', 'metric', 'value'],
    keysFromEvents: { value: vitalValue },
    hasDays: true,
    events: isSample,
    isCounted: isSampleRow,
    keysOfRow: { value: vitalValueOf },
    columns: { samples: sum('count()', () => 1) },
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
