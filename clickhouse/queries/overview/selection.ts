/**
 * SQL that chooses sessions by filters (docs/metrics.md, "Filters"). A session is named by visitor, session and the local day on
 * which it begins; of one that goes on for longer its first two days are looked at.
 */
import type { FilterName, FilterPattern, SessionFilters } from '../../../schemas/session-filters.ts'
import { eventMs, systemKey } from '../../rollups/event-sql.ts'
import { inBuild, inWorkspace } from './figure-parts.ts'

/** Columns of `sessions`, as lists show them. */
const entryColumns = {
  ...{ source: 'source', medium: 'medium', campaign: 'campaign', entry_path: 'entry_path', device: 'device' },
  ...{ browser: 'browser', os: systemKey, country: 'country' },
} as const satisfies Partial<Record<FilterName, string>>

/** What an event of the session has. */
const eventColumns = {
  ...{ path: ['toString(path)', "kind='pageview'"], hostname: ['domain(url)', "kind='pageview'"] },
  event: ['toString(event_name)', '1'],
} as const satisfies Partial<Record<FilterName, readonly [string, string]>>

/** SQL of an event's local day. Parameters: `calendarParams`. */
export const localDay = `transform(roundDown(${eventMs},{day_starts:Array(Int64)}),{day_starts:Array(Int64)},{day_numbers:Array(UInt16)},toUInt16(0))`

export interface Selection {
  readonly params: Readonly<Record<string, unknown>>
  /**
   * SQL of a subselect of those that begin on some days: visitor, session, day.
   * @param isLookedAt SQL condition: events of these days and the next one that are seen
   */
  sessions(firstDay: string, lastDay: string, isLookedAt: string): string
  /** SQL conditions: a page's path, an event's name is one of those wanted. Undefined where all are. */
  readonly isWantedPath: ((path: string) => string) | undefined
  readonly isWantedEvent: ((name: string) => string) | undefined
}

/** @param origins sources with their media that the filter of channels chooses; undefined where there is none */
export function selectionOf(
  filters: SessionFilters,
  origins: readonly (readonly [source: string, medium: string])[] | undefined,
): Selection {
  const params: Record<string, unknown> = {}
  const matcher = (name: FilterName, patterns: readonly FilterPattern[]) => {
    const bound = patterns.map(({ texts }, at) => {
      params[`filter_${name}_${at}`] = texts.length === 1 ? texts[0] : texts.map(escaped).join('%')
      return (text: string) => `${text} ${texts.length === 1 ? '=' : 'LIKE'} {filter_${name}_${at}:String}`
    })
    return (isNot: boolean) => {
      const those = bound.filter((_, at) => patterns[at]!.isNot === isNot)
      return those.length === 0 ? undefined : (text: string) => `(${those.map((one) => one(text)).join(' OR ')})`
    }
  }
  const entry: string[] = []
  for (const [name, column] of Object.entries(entryColumns) as [keyof typeof entryColumns, string][]) {
    const matches = matcher(name, filters.get(name) ?? [])
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
  const byEvents = (Object.keys(eventColumns) as (keyof typeof eventColumns)[]).flatMap((name) => {
    const [column, which] = eventColumns[name]
    const matches = matcher(name, filters.get(name) ?? [])
    return [false, true].flatMap((isNot) => {
      const matched = matches(isNot)?.(column)
      return matched === undefined ? [] : [{ condition: `${which} AND ${matched}`, isNot }]
    })
  })
  return {
    params,
    isWantedPath: matcher('path', filters.get('path') ?? [])(false),
    isWantedEvent: matcher('event', filters.get('event') ?? [])(false),
    sessions(firstDay, lastDay, isLookedAt) {
      const ofEvents = byEvents.map(({ condition, isNot }) => {
        const days = `SELECT visitor,session,${localDay} AS day FROM events
          WHERE ${inWorkspace} AND visitor!=0 AND ${isLookedAt} AND ${condition}`
        const isThere = `(visitor,session,day) IN (SELECT visitor,session,arrayJoin([day,toUInt16(day-1)]) FROM (${days}))`
        return isNot ? `NOT ${isThere}` : isThere
      })
      const conditions = [...entry, ...ofEvents].map((condition) => ` AND ${condition}`).join('')
      return `SELECT visitor,session,day FROM sessions FINAL
        WHERE ${inBuild} AND visitor!=0 AND begins=1 AND day>=${firstDay} AND day<=${lastDay}${conditions}`
    },
  }
}

/** Of a pattern of LIKE. */
function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

/** SQL condition: an event is of a chosen session. Columns are named with their table, because aliases may hide them. */
export function isOfChosen(sessions: string): string {
  const isThere = (day: string) => `(events.visitor,events.session,${day}) IN (${sessions})`
  return `(events.visitor!=0 AND (${isThere(localDay)} OR ${isThere(`toUInt16(${localDay}-1)`)}))`
}
