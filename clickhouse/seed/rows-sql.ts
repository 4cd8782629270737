/**
 * The statement that makes a portion's events in ClickHouse itself, as ingest would have stored them. Everything is drawn
 * from hashes of the seed, the workspace's place and the visit's number: the same seed makes the same events.
 */

import { eventTypes } from '../../schemas/event/event-fields.ts'
import { type EventRow, eventColumns, kinds, noCountry } from '../../schemas/event/row.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { seedSegmentRows } from '../../schemas/limits/seed-limits.ts'
import { constantsOf, type SeedRows } from './constants-sql.ts'
import { bell, draw, evenly, zipf } from './draws-sql.ts'
import type { Portion } from './plan.ts'
import { inSteps, named, type Step } from './steps-sql.ts'
import { eventsInOrder } from './visits-sql.ts'
import {
  agents,
  campaigns,
  capturedNames,
  contents,
  conversionNames,
  countries,
  customNames,
  pages,
  siteEnd,
  siteStart,
  sources,
  vitalCode,
} from './vocabulary.ts'

/** Share of all visits. */
const returningShare = 0.4
/** Share of the conversions. */
const serverShare = 0.2
/** Visitors that come back for `loyalDays` days, as a share of a workspace's events. */
const loyalShare = 0.02
const loyalDays = 12
/** Events of a workspace for each of its pages; a small one has a few all the same. */
const eventsPerPage = 500
const pagesMin = 20

const eventsInPlace = `SELECT rowNumberInAllBlocks() AS place, * FROM (${eventsInOrder})`
const below53Bits = 2 ** 53 - 1

/** Settings are the caller's. Everything stands in the text: parameters would go into the URL, which has bounds. */
export function makeStatement(rows: SeedRows, portion: Portion): string {
  return `${insertInto} ${selectEvents(rows, portion)}`
}

const insertInto = `INSERT INTO events (${eventColumns.map(({ name }) => name).join(', ')})`

function selectEvents(rows: SeedRows, portion: Portion): string {
  return `WITH ${named(constantsOf(rows, portion))}
    SELECT ${eventColumns.map(({ name, type }) => `${columns[name] ?? (type === 'String' ? "''" : '0')} AS ${name}`).join(',\n      ')}
    FROM (${inSteps(steps, eventsInPlace)})`
}

/** Selects which visitor is which browser: rows (visitor, anonymous_id), the first as decimal text. */
export function selectBrowsers(rows: SeedRows, portion: Portion): string {
  return `SELECT DISTINCT toString(visitor) AS visitor, anonymous_id FROM (${selectEvents(rows, portion)}) WHERE anonymous_id != ''`
}

/** A tracked link by which the visits of a campaign's source and medium come. */
export interface SeedLink {
  readonly id: number
  readonly source: string
  readonly medium: string
  /** That of its clicks. */
  readonly referrer: string
}

/**
 * As `makeStatement`, but with links, without hashes of e-mails, and with the visitors replaced.
 * @param visitors the visitor to store, by the one that `selectBrowsers` answers; decimal texts
 */
export function makeStatementWithLinks(
  rows: SeedRows,
  portion: Portion,
  visitors: ReadonlyMap<string, string>,
  links: readonly SeedLink[],
): string {
  const [known, wanted] = [[...visitors.keys()], [...visitors.values()]].map(
    (all) => `CAST([${all.join()}] AS Array(UInt64))`,
  )
  const campaigns = links.map(({ id, source, medium }) => `source = '${source}' AND medium = '${medium}', ${id}`)
  return `${insertInto} SELECT * EXCEPT (led_by) REPLACE (
      transform(visitor, ${known}, ${wanted}, visitor) AS visitor, 0 AS email_hash, led_by AS link_id,
      if(led_by = 0, url, concat(url, '&svc_link_id=', toString(led_by))) AS url)
    FROM (SELECT *, toUInt32(multiIf(${[...campaigns, '0'].join()})) AS led_by FROM (${selectEvents(rows, portion)}))`
}

/** Values that several columns are made of. */
const steps: readonly Step[] = [
  {
    event: 'cityHash64(visit, nth)',
    is_vital: `code > ${vitalCode}`,
    is_server: `code = ${kinds.conversion} AND ${draw('visit', 30)} < ${serverShare}`,
    // One that comes back within some days, or one that comes this once.
    person: `if(${draw('visit', 31)} < ${returningShare},
      toUInt64((share + least(1, ${loyalDays} / days) * ${draw('visit', 32)}) * greatest(1, events_of_workspace * ${loyalShare})),
      visit_number + ${2 ** 40})`,
    page: zipf(
      `least(${pages.length}, greatest(${pagesMin}, intDiv(events_of_workspace, ${eventsPerPage})))`,
      'visit, page_number',
      35,
    ),
    came_from: zipf(sources.length, 'visit', 36),
    site: `concat('${siteStart}', toString(w), '${siteEnd}')`,
  },
  {
    who: `greatest(cityHash64(seed, w, person, 'visitor'), 1)`,
    is_landing: 'page_number = 1 AND NOT is_server',
    metric_number: `if(is_vital, code - ${vitalCode}, 0)`,
    // Some pages are slow for everybody.
    slowness: `0.35 * ${bell('w, page', 40)} + ${bell('event', 44)}`,
    depth: `if(code = ${kinds.page_leave}, 5 * (cityHash64(event, 51) % 21), 0)`,
  },
  {
    agent: zipf(agents.length, 'who', 33),
    origin: zipf(countries.length, 'who', 34),
    is_campaign: 'is_landing AND are_campaigns[came_from] = 1',
    is_referred: `is_landing AND code = ${kinds.pageview} AND referrers[came_from] != ''`,
    vital_value: `multiIf(
      metric_number = 0, 0,
      metric_number = 4, round(least(3, exp(-3.2 + 1.3 * slowness)), 4),
      round(least(60000, exp([7.25, 7.6, 4.7][metric_number] + [0.55, 0.5, 0.85][metric_number] * slowness)), 1))`,
  },
  {
    // Where there are no cities, the first one is an empty text.
    spot: zipf('length(cities[origin])', 'who', 39),
    campaign_name: `if(is_campaign, campaigns[${zipf(campaigns.length, 'visit', 37)}], '')`,
    content_name: `if(is_campaign, contents[${zipf(contents.length, 'visit', 38)}], '')`,
  },
]

/** A column that isn't here stays empty. */
const columns: Readonly<Partial<Record<keyof EventRow, string>>> = {
  id: `(lease + first_segment + intDiv(place, ${seedSegmentRows})) * ${segmentRowsMax} + place % ${seedSegmentRows}`,
  workspace_id: 'workspace_ids[w]',
  occurred_at: "fromUnixTimestamp64Milli(at, 'UTC')",
  received_at: "fromUnixTimestamp64Milli(received, 'UTC')",
  event_type: `multiIf(code = ${kinds.identify}, ${eventTypes.identify}, code = ${kinds.conversion}, ${eventTypes.conversion}, ${eventTypes.track})`,
  kind: `if(is_vital, ${kinds.web_vital}, code)`,
  visitor: 'if(is_server, 0, who)',
  session: `if(is_server, 0, greatest(bitAnd(cityHash64(visit, 'session'), ${below53Bits}), 1))`,
  session_named: 'NOT is_server',
  email_hash: `if(is_server OR code = ${kinds.identify} OR code = ${kinds.conversion} AND ${draw('visit', 50)} < 0.5,
      greatest(cityHash64(who, 'e-mail'), 1), 0)`,
  device: 'if(is_server, 0, devices[agent])',
  metric: 'metric_number',
  metric_value: 'vital_value',
  engagement_ms: `if(code = ${kinds.page_leave}, pause, 0)`,
  scroll_depth: 'depth',
  screen_width: 'if(is_server, 0, widths[agent])',
  country: `if(is_server, ${`'${noCountry.replaceAll('\0', '\\0')}'`}, countries[origin])`,
  event_name: `multiIf(
      is_vital, 'web_vital',
      code = ${kinds.pageview}, 'pageview',
      code = ${kinds.page_leave}, 'page_leave',
      code = ${kinds.autocapture}, captured_names[${zipf(capturedNames.length, 'event', 60)}],
      code = ${kinds.custom}, custom_names[${zipf(customNames.length, 'event', 60)}],
      code = ${kinds.conversion}, conversion_names[${zipf(conversionNames.length, 'event', 60)}],
      'identify')`,
  anonymous_id: `if(is_server, '', toString(reinterpretAsUUID(murmurHash3_128(who))))`,
  client_event_id: `if(at >= client_event_ids_from, toString(reinterpretAsUUID(murmurHash3_128(seed, event))), '')`,
  path: `if(is_server, '', paths[page])`,
  url: `if(is_server, '', concat(site, paths[page], if(is_campaign, concat(
        '?utm_source=', sources[came_from], '&utm_medium=', media[came_from],
        '&utm_campaign=', campaign_name, if(content_name = '', '', concat('&utm_content=', content_name))), '')))`,
  title: `if(is_server, '', titles[page])`,
  referrer: `multiIf(is_referred, referrers[came_from], code = ${kinds.pageview} AND page_number > 1, concat(site, '/'), '')`,
  source: `if(is_campaign OR is_referred, sources[came_from], 'direct')`,
  medium: `if(is_campaign OR is_referred, media[came_from], 'none')`,
  campaign: 'campaign_name',
  content: 'content_name',
  browser: `if(is_server, '', browsers[agent])`,
  os: `if(is_server, '', systems[agent])`,
  region: `if(is_server, '', regions[origin][spot])`,
  region_name: `if(is_server, '', region_names[origin][spot])`,
  city: `if(is_server, '', cities[origin][spot])`,
  language: `if(is_server, '', languages[origin])`,
  timezone: `if(is_server, '', timezones[origin])`,
  properties: `multiIf(
      is_vital, concat('{"metric":"', ['FCP', 'LCP', 'INP', 'CLS'][metric_number], '","value":', toString(vital_value), '}'),
      code = ${kinds.page_leave}, concat('{"engagement_ms":', toString(pause), ',"scroll_depth":', toString(depth), '}'),
      code = ${kinds.autocapture}, concat('{"href":"', paths[${zipf(pagesMin, 'event', 61)}], '","text":"Read on"}'),
      code = ${kinds.custom}, concat('{"step":', toString(cityHash64(event, 62) % 4), '}'),
      code = ${kinds.conversion}, concat('{"plan":"', ['starter', 'growth', 'scale'][${evenly(3, 'visit', 63)}], '"}'),
      '')`,
}
