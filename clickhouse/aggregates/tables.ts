/**
 * The aggregate tables: what their rows are counted by, how each column is counted from raw rows where that is a matter of
 * one row at a time, and how it is merged. The tables themselves stand in migrations, from 0003_aggregates.sql on; held together by
 * test/integration/aggregates.test.ts.
 */
import type { SetKind } from './distinct-set.ts'
import type { AlikeRows, RowTexts } from './rows-at-hand.ts'

export interface ColumnOfAggregate {
  /**
   * What its values are: numbers that add up, sets of distinct values, or the newest of values with their times and ids. Of
   * a table with the key `value`, what adds up is read as how often each value occurs, for all its values in one row.
   */
  readonly form: 'sum' | 'distribution' | 'newest' | SetKind
  /** From rows of `events`; undefined where it takes more than single rows (session-starts.ts, credits.ts). */
  readonly fromEvents?: string
  /** The same of rows that are at hand. */
  readonly ofRows?: CountedRows
  /** Of several rows of the table with equal keys, one value of the same type. `?` stands for the column. */
  readonly merge: string
  /** What readers see of the merged value, to compare two computations. */
  readonly shown: string
}

/** What of rows with the same texts is added up, goes into the set, or is the newest; `rows`: how many they are. */
export interface CountedRows {
  readonly of: 'rows' | 'title' | keyof Pick<AlikeRows, 'visitors' | 'sessions' | 'values'>
  /** What values count as. */
  readonly as?: (value: number) => number
  /** All are, where it isn't given. */
  readonly isCounted?: (texts: RowTexts) => boolean
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
  /** The same of rows at hand. */
  readonly isCounted?: (texts: RowTexts) => boolean
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

const sum = (fromEvents?: string, isCounted?: (texts: RowTexts) => boolean): ColumnOfAggregate => ({
  form: 'sum',
  ...(fromEvents && { fromEvents: `toInt64(${fromEvents})`, ofRows: { of: 'rows', ...(isCounted && { isCounted }) } }),
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
  isCounted: (texts: RowTexts) => boolean = () => true,
): ColumnOfAggregate => ({
  form: kind,
  ...(column && {
    fromEvents: `${setFunction(kind, 'StateIf')}(${column}, ${condition})`,
    ofRows: { of: `${column}s`, isCounted },
  }),
  merge: `${setFunction(kind, 'MergeState')}(?)`,
  shown: `${setFunction(kind, 'Merge')}(?)`,
})

/** The value of the newest row, in a tuple behind its time and id. */
const newest = (fromEvents: string, ofRows?: CountedRows): ColumnOfAggregate => ({
  form: 'newest',
  fromEvents,
  ...(ofRows && { ofRows }),
  merge: 'max(?)',
  shown: 'max(?)',
})

const isSample = "kind = 'web_vital' AND metric != 'none'"
const areSamples = ({ kind, metric }: RowTexts) => kind === 'web_vital' && metric !== 'none'
const isVital = (metric: string) => `kind = 'web_vital' AND metric = '${metric}'`
const areOfVital = (name: string) => (texts: RowTexts) => areSamples(texts) && texts.metric === name
/** Sums of floats depend on their order in the last digits. */
const vitalTotal = (metric: string): ColumnOfAggregate => ({
  form: 'sum',
  fromEvents: `sumIf(metric_value, ${isVital(metric)})`,
  ofRows: { of: 'values', isCounted: areOfVital(metric) },
  merge: 'sum(?)',
  shown: 'round(sum(?), 3)',
})
const vitalLatest = (metric: string) =>
  newest(`maxIf((occurred_at, id, metric_value), ${isVital(metric)})`, { of: 'values', isCounted: areOfVital(metric) })

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
function vitalValueOf(value: number): number {
  const millionths = Math.max(0, Math.ceil(Math.max(value, 0) * 1e6 - 1e-3))
  let place = 1
  while (place * 10 <= millionths) place *= 10
  const step = Math.max(1, Math.floor(place / (millionths < 2 * place ? 200 : millionths < 5 * place ? 100 : 40)))
  return Math.floor((millionths + step - 1) / step) * step
}

const samples: ColumnOfAggregate = {
  form: 'distribution',
  fromEvents: 'toInt64(count())',
  ofRows: { of: 'values', as: vitalValueOf },
  merge: 'sum(?)',
  shown: 'sum(?)',
}

const isView = "kind = 'pageview' AND visitor != 0"
const haveVisitor = ({ hasVisitor }: RowTexts) => hasVisitor
const arePageviews = ({ kind }: RowTexts) => kind === 'pageview'
const areConversions = ({ kind }: RowTexts) => kind === 'conversion'
const areViews = (texts: RowTexts) => arePageviews(texts) && haveVisitor(texts)

export const aggregateTables: Readonly<Record<AggregateName, AggregateTable>> = {
  agg_traffic: {
    name: 'agg_traffic',
    keys: [],
    hasDays: true,
    events: '1',
    isCounted: () => true,
    columns: {
      pageviews: sum("countIf(kind = 'pageview')", arePageviews),
      events: sum('count()'),
      conversions: sum("countIf(kind = 'conversion')", areConversions),
      shown_events: sum(
        "countIf(kind NOT IN ('web_vital', 'page_leave'))",
        ({ kind }) => kind !== 'web_vital' && kind !== 'page_leave',
      ),
      visitors: distinct('total', 'visitor', 'visitor != 0', haveVisitor),
      sessions: distinct('total', 'session', 'visitor != 0', haveVisitor),
      converting: distinct(
        'total',
        'visitor',
        "kind = 'conversion' AND visitor != 0",
        (texts) => areConversions(texts) && haveVisitor(texts),
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
    isCounted: (texts) => arePageviews(texts) || areConversions(texts) || texts.kind === 'web_vital',
    columns: {
      pageviews: sum("countIf(kind = 'pageview')", arePageviews),
      conversions: sum("countIf(kind = 'conversion')", areConversions),
      samples: sum(`countIf(${isSample})`, areSamples),
      visitors: distinct('list', 'visitor', isView, areViews),
      sessions: distinct('list', 'session', isView, areViews),
      title: newest("maxIf((occurred_at, id, title), kind = 'pageview' AND title != '')", {
        of: 'title',
        isCounted: (texts) => arePageviews(texts) && texts.title !== '',
      }),
    },
  },
  agg_vitals: {
    name: 'agg_vitals',
    keys: ['metric', 'value'],
    keysFromEvents: { value: vitalValue },
    hasDays: true,
    events: isSample,
    isCounted: areSamples,
    columns: { samples },
  },
  agg_page_vitals: {
    name: 'agg_page_vitals',
    keys: ['path', 'metric', 'value'],
    keysFromEvents: { value: vitalValue },
    hasDays: true,
    events: isSample,
    isCounted: areSamples,
    columns: { samples },
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

/** Of the keys of a table, those that rows have where they are read: one row has all values of a distribution. */
export function keysRead(keys: readonly string[]): string[] {
  return keys.filter((key) => key !== 'value')
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
