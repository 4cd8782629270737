/** Values that a filter may have: those of closed lists, countries by name, and examples. Pure; test/unit/dashboard-address.test.ts. */
import type { FilterName } from '../../../schemas/reference/filter-names.ts'
import type { Overview } from '../requests/answers.ts'

/** The API refuses any other value of these. By value, as lists show it. */
export const choices: Partial<Record<FilterName, Readonly<Record<string, string>>>> = {
  device: { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet', other: 'Other', unknown: 'Unknown' },
  channel: Object.fromEntries(
    [
      'Direct',
      'Cross-network',
      'Paid Shopping',
      'Paid Search',
      'Paid Social',
      'Paid Video',
      'Display',
      'Paid Other',
      'AI Assistants',
      'Organic Shopping',
      'Organic Social',
      'Organic Video',
      'Organic Search',
      'Referral',
      'Email',
      'Affiliates',
      'Audio',
      'SMS',
      'Mobile Push Notifications',
      'Unassigned',
    ].map((name) => [name, name]),
  ),
}

export const examples: Readonly<Partial<Record<FilterName, string>>> = {
  source: 'google',
  medium: 'email',
  campaign: 'spring-*',
  entry_path: '/blog/*',
  exit_path: '/blog/*',
  browser: 'Firefox',
  os: 'Windows',
  country: 'Germany',
  region: 'US-CA',
  city: 'Berlin*',
  path: '/blog/*',
  hostname: 'example.com',
  event: 'signup',
  event_property: 'plan:pro',
}

/** English, as the API's lists are. */
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const unknown = 'unknown'
/** Intl names them, but no visit comes from there: they are no codes of countries, and the API refuses them. */
const nowhere = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '))
/** Without regard to case, accents and punctuation. */
const { compare } = new Intl.Collator('en', { sensitivity: 'base', ignorePunctuation: true })

/** The text itself where it is no code of a country. */
export function countryName(code: string): string {
  if (code === unknown) return 'Unknown'
  return (/^[A-Z]{2}$/.test(code) && names.of(code)) || code
}

let codesByName: ReadonlyMap<string, string> | undefined

/** By name. Former codes are left out, as they share the names of today's. */
export function countryCodes(): ReadonlyMap<string, string> {
  codesByName ??= findCountryCodes()
  return codesByName
}

function findCountryCodes() {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters.flatMap((one) => letters.map((other) => one + other))
  const current = codes.filter((code) => names.of(code) && currentCode(code) === code && !nowhere.has(code))
  return new Map([...current, unknown].map((code) => [countryName(code), code]))
}

/** Undefined for a text that is neither a country's name nor its code. */
export function countryCode(text: string): string | undefined {
  const codes = countryCodes()
  const trimmed = text.trim()
  const named = [...codes].find(([name]) => compare(name, trimmed) === 0)
  if (named !== undefined) return named[1]
  const code = /^[a-z]{2}$/i.test(trimmed) ? currentCode(trimmed) : undefined
  return [...codes.values()].find((known) => known === code)
}

/** Intl replaces former codes and aliases, such as UK. */
function currentCode(code: string): string | undefined {
  return new Intl.Locale(`und-${code}`).region
}

/** Values in the lists of an overview, without repetition. */
export function listedValues(name: FilterName, overview: Partial<Overview>): string[] {
  const { top_sources = [], top_pages = [], browsers = [], recent_events = [] } = overview
  const paths = top_pages.map(({ path }) => path)
  const lists: Partial<Record<FilterName, string[]>> = {
    source: top_sources.map(({ source }) => source),
    medium: top_sources.map(({ medium }) => medium),
    entry_path: paths,
    exit_path: paths,
    browser: browsers.map(({ key }) => key),
    path: paths,
    event: recent_events.map(({ event_name }) => event_name),
  }
  return [...new Set(lists[name])].filter((value) => value !== '')
}
