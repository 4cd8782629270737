/** Search terms from Google Search Console, as the API shows them. docs/search-console.md says what each figure means. */
import { z } from 'zod'

/** By which Search Console counts days. */
export const searchTimeZone = 'America/Los_Angeles'

const searchSiteStatuses = ['active', 'needs_reconnecting'] as const
export type SearchSiteStatus = (typeof searchSiteStatuses)[number]

const siteStates = ['loading', ...searchSiteStatuses] as const
export type SearchSiteState = (typeof siteStates)[number]
const states = ['not_connected', ...siteStates] as const
export type SearchState = (typeof states)[number]

const day = z.string().meta({ examples: ['2026-11-20'] })
const figures = {
  clicks: z.int(),
  impressions: z.int(),
  ctr: z.number().describe('Clicks in per cent of impressions.'),
  position: z.number().describe('Mean position over the impressions, 1 being the first; 0 without any.'),
}
const Figures = z.object(figures)

const SearchedSite = z
  .object({
    site: z.string().describe('`sc-domain:example.com`, or the beginning of its URLs.'),
    state: z.enum(siteStates).describe('`loading` until the first pull is complete.'),
    data_through: day.nullable().describe('The last day that has figures; null where none is known.'),
    last_error: z.string().nullable().describe('Why the last pull failed; null where it did not.'),
  })
  .meta({ id: 'SearchedSite' })

export const SearchTerms = z
  .object({
    state: z
      .enum(states)
      .describe('That of the site which needs most: `needs_reconnecting` before `loading` before `active`.'),
    data_through: day.nullable().describe('The last day with figures of any site; null where none is known.'),
    sites: z.array(SearchedSite),
    range: z
      .object({ start: day, end: day, timezone: z.string() })
      .describe('Whole days, both included, as Search Console counts them.'),
    totals: Figures.describe('Also of queries that are too rare to be listed.'),
    previous: Figures.nullable().describe(
      'The same of the period before, without its last days where those of the range have no figures yet; null where not all of it was read and kept.',
    ),
    queries: z.array(z.object({ query: z.string(), ...figures })).describe('By clicks.'),
    pages: z.array(z.object({ page: z.string().describe('Its URL.'), ...figures })).describe('By clicks.'),
    lists_cut: z.boolean().describe('A day of the range has more rows than are kept.'),
  })
  .meta({ id: 'SearchTerms' })
export type SearchTerms = z.output<typeof SearchTerms>
