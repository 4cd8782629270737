/**
 * Rows of Umami's table `website_event` (version 2 and 3). Names and meaning of the columns are those of its Prisma
 * schema, numbers of `event_type` those of its constants. `session` has browser, os, device, screen, language and
 * places. They are joined in Umami Cloud's export and in ClickHouse; a query joins them elsewhere (docs/import.md).
 */
import { titleLengthMax, urlLengthMax } from '../../schemas/limits/event-limits.ts'
import { cut, type ImportedEvent, type Mapped, textOf, widthOf, withOffset } from './imported-event.ts'
import type { CsvLine } from './read-csv.ts'
import type { EventData } from './umami-event-data.ts'
import { browserNamed, deviceNamed, systemNamed } from './visitor-names.ts'

const eventTypes = { pageview: '1', custom: '2', performance: '5' }
/** Columns of a performance event that are vitals here, too; `ttfb` is none. */
const vitals = ['LCP', 'INP', 'CLS', 'FCP'] as const
const needed = ['event_id', 'session_id', 'created_at'] as const

/**
 * @param site origin of rows without a `hostname`, which older versions don't have
 * @param dataOf properties of the event of that id, from the table `event_data`
 */
export function fromUmami(row: CsvLine, site: string | undefined, dataOf: EventData['take'] = () => ({})): Mapped {
  const missing = needed.find((name) => textOf(row[name]) === undefined)
  if (missing !== undefined) return { refused: `${missing}: Field required` }
  const common = {
    url: urlOf(row, site),
    referrer: referrerOf(row),
    title: cut(textOf(row['page_title']), titleLengthMax),
    // A session of Umami is a visitor of a month, its visit is a session.
    anonymous_id: row['session_id'],
    session_id: textOf(row['visit_id']),
    occurred_at: withOffset(row['created_at']!),
    language: textOf(row['language']),
    screen_width: widthOf(row['screen']),
  }
  const visitor = {
    country: textOf(row['country']),
    region: regionOf(row),
    city: textOf(row['city']),
    device: deviceNamed(textOf(row['device'])),
    browser: browserNamed(textOf(row['browser'])),
    os: systemNamed(textOf(row['os'])),
  }
  const make = (own: object, suffix = ''): ImportedEvent => ({
    event: { ...common, ...own, client_event_id: `umami-${row['event_id']}${suffix}` },
    visitor,
  })
  switch (row['event_type']) {
    case eventTypes.pageview:
      return [make({ event_name: 'pageview', ...ownProperties(row, dataOf) })]
    case eventTypes.custom:
      return [make({ event_name: textOf(row['event_name']), ...ownProperties(row, dataOf) })]
    case eventTypes.performance: {
      const measured = vitals.filter((metric) => textOf(row[metric.toLowerCase()]) !== undefined)
      if (measured.length === 0) return { leftOut: 'performance without a web vital' }
      return measured.map((metric) => {
        const properties = { metric, value: Number(row[metric.toLowerCase()]) }
        return make({ event_name: 'web_vital', properties }, `-${metric}`)
      })
    }
    default:
      return { leftOut: `event_type ${cut(row['event_type'] ?? 'missing', 20)}` }
  }
}

/** Custom properties from the site. Page views may have them, too. */
function ownProperties(row: CsvLine, dataOf: EventData['take']): { properties?: object } {
  const tag = textOf(row['tag'])
  const properties = { ...(tag !== undefined && { tag }), ...dataOf(row['event_id']!) }
  return Object.keys(properties).length === 0 ? {} : { properties }
}

/** `url_path` has the fragment, which stands behind the query. */
function urlOf(row: CsvLine, site: string | undefined): string {
  const hostname = textOf(row['hostname'])
  const [path, fragment] = split(textOf(row['url_path']) ?? '/', '#')
  const query = textOf(row['url_query'])
  const origin = hostname === undefined ? (site ?? '') : `https://${hostname}`
  const url = `${origin}${path.startsWith('/') ? '' : '/'}${path}${query === undefined ? '' : `?${query}`}`
  return cut(fragment === undefined ? url : `${url}#${fragment}`, urlLengthMax)!
}

function referrerOf(row: CsvLine): string | undefined {
  const domain = textOf(row['referrer_domain'])
  if (domain === undefined) return undefined
  const query = textOf(row['referrer_query'])
  const url = `https://${domain}${textOf(row['referrer_path']) ?? '/'}${query === undefined ? '' : `?${query}`}`
  return cut(url, urlLengthMax)
}

function split(text: string, by: string): [string, string | undefined] {
  const at = text.indexOf(by)
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** Version 2 calls it `subdivision1`. */
function regionOf(row: CsvLine): string | undefined {
  return textOf(row['region']) ?? textOf(row['subdivision1'])
}
