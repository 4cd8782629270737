/**
 * Rows of the table `events_v2` of Plausible Community Edition, as JSON lines. Names and meaning of the columns are
 * those of its schema (`Plausible.ClickhouseEventV2`), names of automatic goals those of its documentation. The files
 * that Plausible's settings export have sums of days, of which no visitor can be made: see recognize-file.ts.
 */

import { isObject } from '../../schemas/json-object.ts'
import { eventNameLengthMax, identifierLengthMax, urlLengthMax } from '../../schemas/limits/event-limits.ts'
import { clickIdOf } from '../../schemas/reference/click-ids.ts'
import {
  cut,
  type ImportedEvent,
  type Mapped,
  nameOf,
  numberOf,
  textOf,
  withOffset,
  withoutUndefined,
} from './imported-event.ts'
import { browserNamed, deviceNamed, systemNamed } from './visitor-names.ts'

type Row = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, unknown>>

/** Plausible's value for a depth that wasn't measured. */
const unknownDepth = 255

/** @returns a mapper of all lines of an import: a workspace is one site, that of the first line */
export function makePlausibleMapper(): (row: unknown) => Mapped {
  let site: string | undefined
  return (row) => {
    if (!isObject(row)) return { refused: 'the line is no JSON object' }
    const own = nameOf(row['site_id'])
    site ??= own
    return own === site ? fromPlausible(row) : { refused: `site_id: not ${site}, as the first line has` }
  }
}

function fromPlausible(row: Row): Mapped {
  const [name, time, hostname] = [textOf(row['name']), textOf(row['timestamp']), textOf(row['hostname'])]
  if (name === undefined) return { refused: 'name: Field required' }
  if (time === undefined) return { refused: 'timestamp: Field required' }
  // Numbers of 64 bits: read from JSON's numbers, several visitors would become one.
  const inexact = ['user_id', 'session_id'].find((id) => typeof row[id] === 'number' && !Number.isSafeInteger(row[id]))
  if (inexact !== undefined) return { refused: `${inexact}: a number too long for JSON; export it as a text` }
  const referrer = referrerOf(row)
  const event = {
    url: cut(`https://${hostname ?? ''}${textOf(row['pathname']) ?? '/'}`, urlLengthMax),
    referrer,
    anonymous_id: nameOf(row['user_id']),
    session_id: nameOf(row['session_id']),
    occurred_at: withOffset(time),
    ...campaignOf(row, referrer),
    ...ownFieldsOf(name, row),
  }
  const visitor = {
    country: placeOf(row['country_code']),
    region: placeOf(row['subdivision1_code']),
    device: deviceNamed(textOf(row['screen_size'])),
    browser: browserNamed(textOf(row['browser'])),
    os: systemNamed(textOf(row['operating_system'])),
  }
  return [{ event, visitor } satisfies ImportedEvent]
}

function ownFieldsOf(name: string, row: Row): { event_name: string; properties?: Properties } {
  const properties = propertiesOf(row)
  const { url, path, search_query, ...rest } = properties
  switch (name) {
    case 'pageview':
      return { event_name: 'pageview', properties }
    case 'engagement': {
      const [engagement_ms, depth] = [numberOf(row['engagement_time']), numberOf(row['scroll_depth'])]
      const scroll_depth = depth === unknownDepth ? undefined : depth
      return { event_name: 'page_leave', properties: withoutUndefined({ engagement_ms, scroll_depth }) }
    }
    case 'Outbound Link: Click':
      return { event_name: 'outbound_click', properties: { href: url, ...rest } }
    case 'File Download':
      return { event_name: 'file_download', properties: { href: url, ...rest } }
    case 'Form: Submission':
      return { event_name: 'form_submit', properties }
    case '404':
      return { event_name: 'not_found', properties: { path, ...rest } }
    case 'WP Search Queries':
      return { event_name: 'site_search', properties: { search_term: search_query, ...rest } }
    default:
      return { event_name: cut(name, eventNameLengthMax)!, properties }
  }
}

/** Plausible keeps the parameter name of an ad's click id. For some rows it writes that name as the medium: `(gclid)`. */
function campaignOf(row: Row, referrer: string | undefined): Record<string, string | number> {
  const text = (name: string) => cut(textOf(row[name]), identifierLengthMax)
  const medium = text('utm_medium')
  const inferred = clickIdOf(/^\((\w+)\)$/.exec(medium ?? '')?.[1] ?? '')
  const clickId = clickIdOf(text('click_id_param') ?? '') ?? inferred
  const ad = clickId?.isPaid ? clickId : undefined
  return withoutUndefined({
    // `referrer_source` is the name that Plausible derived from a URL that it doesn't keep.
    source: text('utm_source') ?? ad?.source ?? (referrer === undefined ? text('referrer_source') : undefined),
    medium: (inferred === undefined ? medium : undefined) ?? ad?.medium,
    campaign: text('utm_campaign'),
    content: text('utm_content'),
  })
}

/** Two lists of one length. */
function propertiesOf(row: Row): Record<string, unknown> {
  const [keys, values] = [row['meta.key'], row['meta.value']]
  if (!Array.isArray(keys) || !Array.isArray(values)) return {}
  return Object.fromEntries(keys.map((key, at) => [String(key), values[at]]))
}

/** Some versions leave out the scheme. */
function referrerOf(row: Row): string | undefined {
  const referrer = textOf(row['referrer'])
  if (referrer === undefined) return undefined
  return cut(/^[a-z][\w+.-]*:\/\//i.test(referrer) ? referrer : `https://${referrer}`, urlLengthMax)
}

/** A code of fixed length is NUL where there is none. */
function placeOf(code: unknown): string | undefined {
  const text = textOf(code)?.replaceAll('\0', '')
  return text === '' ? undefined : text
}
