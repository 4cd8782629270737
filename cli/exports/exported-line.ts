/**
 * A stored event as a line of the import's own format. `visitor` and `is_server_event` have the results of ingest that the
 * other fields can't give again. Sessions, and visitors whose browser had no id, are hashes: the line has names of
 * these. Held by test/property/exported-line.test.ts.
 */
import { nameOfVisitor } from '../../clickhouse/queries/people/visitor-names.ts'
import type { StoredEvent } from '../../clickhouse/queries/stored-events.ts'
import { makePageUrl, readPageUrl } from '../../ingest/enrich/page-url.ts'
import { noCountry } from '../../schemas/event/row.ts'

/** Names the person of an event, which its row does not. */
export interface ExportedPerson {
  readonly email?: string | undefined
  readonly fullName?: string | undefined
}

/** One line, without its end. */
export function exportedLine(event: StoredEvent, { email, fullName }: ExportedPerson): string {
  const isServerEvent = event.visitor === '0'
  const line = JSON.stringify({
    event_name: event.event_name,
    event_type: event.event_type,
    client_event_id: event.imported_as,
    occurred_at: new Date(event.occurred_at_ms).toISOString(),
    ...withText({ email, full_name: fullName, anonymous_id: event.anonymous_id }),
    ...(isServerEvent && { is_server_event: true }),
    ...(!isServerEvent && event.anonymous_id === '' && { anonymous_id: nameOfVisitor(event.visitor) }),
    ...(event.session_named === 1 && { session_id: `session_${event.session}` }),
    ...withText({ path: pathOf(event), url: event.url, title: event.title, referrer: event.referrer }),
    ...withText({ source: event.source, medium: event.medium, campaign: event.campaign, content: event.content }),
    ...withText({ language: event.language, timezone: event.timezone }),
    ...(event.screen_width > 0 && { screen_width: event.screen_width }),
    visitor: withText({
      country: event.country === noCountry ? '' : event.country,
      device: event.device === 'unknown' ? '' : event.device,
      region: event.region,
      region_name: event.region_name,
      city: event.city,
      browser: event.browser,
      os: event.os,
    }),
  })
  // The properties are stored as JSON.
  return event.properties === '' ? line : `${line.slice(0, -1)},"properties":${event.properties}}`
}

/** Empty texts count as not sent. */
function withText(texts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter((entry): entry is [string, string] => !!entry[1]))
}

const page = makePageUrl()

/** Empty where the URL says the same. */
function pathOf({ url, path }: StoredEvent): string {
  readPageUrl(url, page)
  return page.path === path ? '' : path
}
