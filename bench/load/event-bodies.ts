/**
 * The events that the benches send: page views as browsers report them. They have several hundred pages, campaigns and
 * agents, so that caches and dictionaries meet what they would meet. A body is about 430 bytes. Visits have six events,
 * and many of them go on at once: sessions and visitors are as many as such a load would have.
 */

export interface EventVariant {
  readonly userAgent: string
  /** Without the ids. */
  readonly event: Readonly<Record<string, unknown>>
}

/** Ids that tell events, visits and visitors apart. */
export interface EventIds {
  readonly client_event_id: string
  readonly anonymous_id: string
  readonly session_id: string
}

const variantCount = 512

const sections = ['blog', 'docs', 'guides', 'products', 'changelog', 'pricing', 'help', 'customers']
const subjects = [
  'measuring-visits',
  'first-steps',
  'custom-events',
  'web-vitals',
  'importing-logs',
  'plans',
  'releases',
]
const campaigns = ['spring_launch', 'newsletter_42', 'partner_week', 'webinar_june', 'retargeting_eu', 'brand_search']
const sources = [
  ['newsletter', 'email'],
  ['linkedin', 'social'],
  ['google', 'cpc'],
  ['partner', 'referral'],
] as const
const referrers = [
  'https://www.google.com/',
  'https://duckduckgo.com/',
  'https://news.ycombinator.com/item?id=40123456',
  'https://www.linkedin.com/feed/',
  'https://t.co/a1B2c3D4e5',
  'https://www.reddit.com/r/webdev/comments/1abcd2e/how_do_you_measure/',
  'https://blog.partner.example/review-of-analytics',
  '',
]
const plans = ['free', 'starter', 'growth', 'scale']
const titles = [
  'Measuring visits',
  'First steps',
  'Qué medir y cómo',
  'Web vitals in the field',
  'Importing logs – how to',
]

const agents = [
  ...[124, 125, 126, 127, 128, 129].flatMap((version) => [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36 Edg/${version}.0.0.0`,
  ]),
  ...['16_7', '17_4', '17_5', '18_0'].map(
    (version) =>
      `Mozilla/5.0 (iPhone; CPU iPhone OS ${version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version.replace('_', '.')} Mobile/15E148 Safari/604.1`,
  ),
]

export const eventVariants: readonly EventVariant[] = Array.from({ length: variantCount }, (_, at) => variant(at))

function variant(at: number): EventVariant {
  const path = `/${pick(sections, at)}/${pick(subjects, at >> 3)}-${at % 64}`
  const [source, medium] = pick(sources, at >> 1)
  const query =
    at % 3 === 0 ? '' : `?utm_source=${source}&utm_medium=${medium}&utm_campaign=${pick(campaigns, at >> 2)}`
  return {
    userAgent: pick(agents, at * 7),
    event: {
      event_name: 'pageview',
      url: `https://example.com${path}${query}`,
      referrer: pick(referrers, at >> 1),
      title: `${pick(titles, at)} ${at % 64}`,
      properties: { plan: pick(plans, at), experiment: `b-${at % 5}` },
    },
  }
}

/** The n-th page has 1/n of the first page's visits (Zipf), as with `svc seed`. */
const zipfPages = 120
const zipfSum = Array.from({ length: zipfPages }, (_, rank) => 1 / (rank + 1)).reduce((sum, share) => sum + share)
/** Its multiples lie evenly between whole numbers, however many there are. */
const goldenRatio = (Math.sqrt(5) - 1) / 2

/** Names the page of event `at`. */
function zipfPage(at: number): Readonly<Record<string, unknown>> {
  let left = ((at * goldenRatio) % 1) * zipfSum
  let rank = 0
  while (rank < zipfPages - 1 && left >= 1 / (rank + 1)) left -= 1 / ++rank
  const { url, title } = pick(eventVariants, rank).event
  return { url, title }
}

export const counterDigits = 12
const visitEvents = 6
/** At 20,000 events a second a visit lasts for half a minute. */
const visitsAtOnce = 100_000

/**
 * The numbers behind the ids of event `count` of a load.
 * @param ofWorkspace how many before it went to the same of the load's workspaces: a visit is all in one
 */
export function numbersOf(
  count: number,
  ofWorkspace = count,
  workspaces = 1,
): { readonly event: number; readonly visit: number; readonly visitor: number } {
  const atOnce = Math.ceil(visitsAtOnce / workspaces)
  const visit = Math.floor(ofWorkspace / (atOnce * visitEvents)) * atOnce + (ofWorkspace % atOnce)
  // Every third visitor has been here before.
  const earlier = visit - 3 * atOnce
  return { event: count, visit, visitor: visit % 3 === 0 && earlier >= 0 ? earlier : visit }
}

/** Ids that begin with the load's `prefix` and end with a counter, in the shapes that browsers give them. */
export function idsOf(prefix: string, { event, visit, visitor }: ReturnType<typeof numbersOf>): EventIds {
  return {
    client_event_id: `${prefix}-0000-4000-8000-${hex(event, counterDigits)}`,
    anonymous_id: `${prefix}-6b1e-4c53-9d02-${hex(visitor, counterDigits)}`,
    session_id: `${prefix}${hex(visit, counterDigits)}`,
  }
}

export function singleBody(trackingKey: string, variant: EventVariant, ids: EventIds): string {
  return JSON.stringify({ tracking_key: trackingKey, ...ids, ...variant.event })
}

/**
 * A batch of `count` events from variant `first` on, all with the same ids.
 * @param hasBusyPages of the pages, a few are visited most, as people do
 */
export function batchBody(
  trackingKey: string,
  first: number,
  count: number,
  ids: EventIds,
  hasBusyPages = false,
): string {
  const events = Array.from({ length: count }, (_, at) => ({
    ...ids,
    ...pick(eventVariants, first + at).event,
    ...(hasBusyPages && zipfPage(first + at)),
  }))
  return JSON.stringify({ tracking_key: trackingKey, events })
}

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length]!
}

function hex(value: number, digits: number): string {
  return Math.floor(value).toString(16).padStart(digits, '0').slice(-digits)
}
