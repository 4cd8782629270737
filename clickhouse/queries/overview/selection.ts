/**
 * SQL that chooses sessions by filters (docs/metrics.md, "Filters"). A session is named by visitor, session and the
 * local day on which it begins. A longer one is looked at on its first two days. Each of their two rows knows the entry,
 * the exit and the pages of both days. Other facts are looked up among the session's events.
 */
import type { FilterName } from '../../../schemas/reference/filter-names.ts'
import type { FilterPattern, SessionFilters } from '../../../schemas/session-filters.ts'
import { cellKinds } from '../../rollups/appearance.ts'
import { cityOfSession, eventMs, hostOfUrl, regionKey, systemKey } from '../../rollups/event-sql.ts'
import { hasProperty, propertyParams, propertyValue } from '../property-sql.ts'
import { inBuild, inWorkspace } from './figure-parts.ts'

/** Columns of `sessions`, as lists show them. */
const entryColumns = {
  source: 'source',
  medium: 'medium',
  campaign: 'campaign',
  entry_path: 'entry_path',
  exit_path: 'exit_path',
  device: 'device',
  browser: 'browser',
  os: systemKey,
  country: 'country',
  region: regionKey,
  city: cityOfSession,
} as const satisfies Partial<Record<FilterName, string>>

const eventName = 'toString(event_name)'
/** Columns of `events`, for facts that rows of `sessions` don't know. */
const eventColumns = {
  hostname: [hostOfUrl('url'), "kind='pageview'"],
  event: [eventName, '1'],
} as const satisfies Partial<Record<FilterName, readonly [string, string]>>

/** SQL of an event's local day. Parameters: `Chosen.calendar`. */
export const localDay = `transform(roundDown(${eventMs},{day_starts:Array(Int64)}),{day_starts:Array(Int64)},{day_numbers:Array(UInt16)},toUInt16(0))`

export interface Selection {
  readonly params: Readonly<Record<string, unknown>>
  /**
   * SQL condition: a row of `sessions` is of the first two days of a chosen session.
   * @param events condition over `events`: they are folded, and of the days that are asked about or the days beside
   *   them
   */
  chosenSql(events: string): string
  /** SQL conditions: a page's path, an event's name is one of those wanted. Undefined where all are. */
  readonly wantedPathSql: ((path: string) => string) | undefined
  readonly wantedEventSql: ((name: string) => string) | undefined
}

/** @param origins sources with their media that the filter of channels chooses; undefined where there is none */
export function selectionOf(
  filters: SessionFilters,
  origins: readonly (readonly [source: string, medium: string])[] | undefined,
): Selection {
  const params: Record<string, unknown> = {}
  const matcher = (name: string, patterns: readonly FilterPattern[] = []) => {
    const bound = patterns.map(({ texts }, at) => {
      params[`filter_${name}_${at}`] = textOf(texts)
      return (text: string) => isLike(text, texts, `filter_${name}_${at}`)
    })
    return (isNot: boolean) => {
      const those = bound.filter((_, at) => patterns[at]!.isNot === isNot)
      return those.length === 0 ? undefined : (text: string) => `(${those.map((one) => one(text)).join(' OR ')})`
    }
  }
  const entry: string[] = []
  for (const [name, column] of Object.entries(entryColumns) as [keyof typeof entryColumns, string][]) {
    const matches = matcher(name, filters.get(name))
    const [wanted, unwanted] = [matches(false)?.(column), matches(true)?.(column)]
    entry.push(...(wanted ? [wanted] : []), ...(unwanted ? [`NOT ${unwanted}`] : []))
  }
  if (origins !== undefined) {
    params['channel_sources'] = origins.map(([source]) => source)
    params['channel_media'] = origins.map(([, medium]) => medium)
    entry.push(
      '(source,medium) IN (SELECT arrayJoin(arrayZip({channel_sources:Array(String)},{channel_media:Array(String)})))',
    )
  }
  const both = (name: string, patterns: readonly FilterPattern[] | undefined) =>
    [false, true].flatMap((isNot) => {
      const matches = matcher(name, patterns)(isNot)
      return matches === undefined ? [] : [{ matches, not: isNot ? 'NOT ' : '' }]
    })
  const wantedPathSql = matcher('path', filters.get('path'))(false)
  const wantedEventSql = matcher('event', filters.get('event'))(false)
  const ofPaths = both('path', filters.get('path')).map(({ matches, not }) => ({ isThere: hasPage(matches), not }))
  const ofEvents = (Object.keys(eventColumns) as (keyof typeof eventColumns)[]).flatMap((name) => {
    const [column, which] = eventColumns[name]
    return both(name, filters.get(name)).map(({ matches, not }) => ({
      isThere: `${which} AND ${matches(column)}`,
      not,
    }))
  })
  // Values of one property are alternatives; each property has to fit.
  const patternsOfProperties = filters.get('event_property') ?? []
  const properties = [...new Set(patternsOfProperties.map((pattern) => pattern.property))]
  const ofProperties = properties.flatMap((property, at) => {
    const patterns = patternsOfProperties.filter((pattern) => pattern.property === property)
    const name = `property_name_${at}`
    Object.assign(params, propertyParams(name, property!))
    const which = `${wantedEventSql?.(eventName) ?? '1'} AND ${hasProperty(name)}`
    return both(`property_${at}`, patterns).map(({ matches, not }) => ({
      isThere: `${which} AND ${matches(propertyValue(name))}`,
      not,
    }))
  })
  return {
    params,
    wantedPathSql,
    wantedEventSql,
    chosenSql: (events) =>
      [
        'nth_day!=0',
        ...entry,
        ...ofPaths.map(({ isThere, not }) => `${not}${isThere}`),
        ...[...ofEvents, ...ofProperties].map(
          ({ isThere, not }) => `${not}(visitor,session,${beginDay}) IN (${daysOfEvents(events, isThere)})`,
        ),
      ].join(' AND '),
  }
}

/** SQL of the local day on which a row's session begins. */
export const beginDay = 'toUInt16(day+1-nth_day)'

/**
 * SQL of a subselect of the rows of chosen sessions: visitor, session, day.
 * @param days condition over `day` @param events as for `Selection.chosenSql`
 */
export function chosenRows(selection: Selection, days: string, events: string): string {
  return `SELECT visitor,session,day FROM sessions FINAL WHERE ${inBuild} AND ${days} AND ${selection.chosenSql(events)}`
}

/** Selects the days of sessions that have such events, and the days before. */
function daysOfEvents(events: string, which: string): string {
  return `SELECT visitor,session,arrayJoin([day,toUInt16(day-1)]) FROM (SELECT visitor,session,${localDay} AS day FROM events
    WHERE ${inWorkspace} AND visitor!=0 AND ${events} AND ${which})`
}

/** SQL condition over a row of `sessions`: the session has a pageview of a page. */
function hasPage(isPath: (path: string) => string): string {
  return `(arrayExists((kind,key,n)->kind=${cellKinds.page} AND n>0 AND ${isPath('key')},seen.kind,seen.key,seen.pageviews) OR arrayExists(key->${isPath('key')},other_pages.path))`
}

/** SQL condition: a text is of a pattern, whose `textOf` is the parameter `name`. */
export function isLike(text: string, texts: FilterPattern['texts'], name: string): string {
  return `${text} ${texts.length === 1 ? '=' : 'LIKE'} {${name}:String}`
}

/** The value of such a parameter: a pattern of LIKE where any text may stand in it. */
export function textOf(texts: FilterPattern['texts']): string {
  return texts.length === 1 ? texts[0]! : texts.map(escaped).join('%')
}

/** Escapes the wildcards of a LIKE pattern. */
function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/**
 * SQL condition: an event is of a chosen session. Columns are named with their table, because aliases may hide them. A set of
 * hashes is looked up in half of the time that one of tuples takes. Among 650,000 sessions and a million events one is taken for
 * another's in one of 20 million answers.
 */
export function eventIsOfChosen(rows: string): string {
  return `(events.visitor!=0 AND cityHash64(events.visitor,events.session,${localDay}) IN (SELECT cityHash64(visitor,session,day) FROM (${rows})))`
}
