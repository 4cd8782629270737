/** Names of time zones that every part knows: Intl here, and ClickHouse, which takes only the spelling of the IANA database. */
import { zoneNamesOfPlaces } from '../reference/country-zones.ts'
import { isTimeZone } from './time-zone.ts'

const hoursFromUtc = Array.from({ length: 12 }, (_, nth) => nth + 1)
/** Zones of the IANA database that lie nowhere. Intl knows further ones, `PST` or `IST`, which ClickHouse refuses. */
const placeless = [
  'UTC',
  'GMT',
  'Etc/UTC',
  'Etc/GMT',
  'CET',
  'EET',
  'MET',
  'WET',
  'EST',
  'MST',
  'HST',
  'EST5EDT',
  'CST6CDT',
  'MST7MDT',
  'PST8PDT',
  'Etc/GMT-13',
  'Etc/GMT-14',
  ...hoursFromUtc.flatMap((hours) => [`Etc/GMT+${hours}`, `Etc/GMT-${hours}`]),
]

/** Added by the release of March 2025; ClickHouse carries an older one. */
const tooNew: ReadonlySet<string> = new Set(['America/Coyhaique'])

/** As they are spelled; `Asia/Calcutta` and `Asia/Kolkata` are both names of one zone. */
export const timeZoneNames: readonly string[] = [
  ...new Set([...placeless, ...zoneNamesOfPlaces(), ...Intl.supportedValuesOf('timeZone')]),
].filter((name) => !tooNew.has(name))

const spellings: ReadonlyMap<string, string> = new Map(timeZoneNames.map((name) => [name.toLowerCase(), name]))

/** The name as the IANA database spells it, in any case of `text`; undefined when this process knows no such name. */
export function timeZoneNamed(text: string): string | undefined {
  const name = spellings.get(text.toLowerCase())
  // Only the name that is asked for: to try all of them takes 46 ms of each start.
  return name !== undefined && isTimeZone(name) ? name : undefined
}
