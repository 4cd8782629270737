/**
 * Filters of the overview: they choose sessions. docs/metrics.md ("Filters") has the rules;
 * test/property/overview.test.ts holds them.
 */
import { z } from 'zod'
import { lengthOf } from './code-points.ts'
import { enumError, valueError } from './errors/validation-errors.ts'
import type { Build } from './errors/zod-errors.ts'
import { readablePath } from './event/readable-path.ts'
import { devices } from './event/row.ts'
import { repeated } from './lax.ts'
import {
  filterTextLengthMax,
  filterValuesMax,
  filterWildcardsMax,
  propertyNameLengthMax,
} from './limits/overview-limits.ts'
import { channels } from './reference/channels.ts'
import { isCountryCode } from './reference/country-zones.ts'
import { type FilterName, filterNames } from './reference/filter-names.ts'

/** One value as it was meant: `!` before it, and the texts between its `*`. */
export interface FilterPattern {
  readonly isNot: boolean
  readonly texts: readonly string[]
  /** The name of the property, where a filter is of one. */
  readonly property?: string
}

/** By name; a name without values isn't there. */
export type SessionFilters = ReadonlyMap<FilterName, readonly FilterPattern[]>

/** A backslash before a character takes its meaning away. */
export function readPattern(value: string): FilterPattern {
  const isNot = value.startsWith('!')
  return { isNot, texts: textsIn(value.slice(isNot ? 1 : 0)) }
}

/** A value of a filter. @returns undefined where it is none of that filter */
function readValue(name: FilterName, value: string): FilterPattern | undefined {
  return name === 'event_property' ? readPropertyPattern(value) : readPattern(value)
}

/** `plan:pro`. @returns undefined where it names no property, one that is too long, or one with `*` */
function readPropertyPattern(value: string): FilterPattern | undefined {
  const [, sign, name, text] = /^(!?)((?:\\[\s\S]|[^\\:])+):([\s\S]*)$/.exec(value) ?? []
  const [property, ...others] = textsIn(name ?? '')
  if (others.length > 0 || !property || lengthOf(property) > propertyNameLengthMax) return undefined
  return { isNot: sign === '!', texts: textsIn(text!), property }
}

/** The texts between its `*`. */
function textsIn(pattern: string): string[] {
  const texts = ['']
  for (const [, escaped, plain] of pattern.matchAll(/\\([\s\S])|([\s\S])/g)) {
    if (plain === '*') texts.push('')
    else texts.push(`${texts.pop()}${escaped ?? plain}`)
  }
  return texts
}

/** Whether no negated pattern fits the text, and one of the others does, where there are any. */
export function matchesFilter(text: string, patterns: readonly FilterPattern[]): boolean {
  const wanted = patterns.filter(({ isNot }) => !isNot)
  const isUnwanted = patterns.some((pattern) => pattern.isNot && fitsPattern(text, pattern))
  return !isUnwanted && (wanted.length === 0 || wanted.some((pattern) => fitsPattern(text, pattern)))
}

/** Whether the text is as the pattern says, whose `!` plays no part. Both ends come first: most texts fail there. */
export function fitsPattern(text: string, { texts }: FilterPattern): boolean {
  const [first, ...others] = texts
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first!) || !text.endsWith(last)) return false
  let at = first!.length
  for (const between of others) {
    const found = text.indexOf(between, at)
    if (found < 0) return false
    at = found + between.length
  }
  return text.length - last.length >= at
}

/** How values are written in events, where callers may write them otherwise. */
const storedForms: Partial<Record<FilterName, (value: string) => string>> = {
  hostname: (value) => value.toLowerCase(),
  path: readablePath,
  entry_path: readablePath,
  exit_path: readablePath,
  country: countryAsStored,
  region: regionAsStored,
}

/** A code means the one in upper case, with `!` or without. */
function countryAsStored(value: string): string {
  return /^!?[a-z]{2}$/i.test(value) ? value.toUpperCase() : value
}

/** The same of a code of ISO 3166-2. One with upper case may be a short name: `CH-Zug`. */
function regionAsStored(value: string): string {
  return /^!?[a-z]{2}-[a-z0-9]{1,3}$/.test(value) ? value.toUpperCase() : value
}

/** Undefined where nothing is filtered. */
export function filtersOf(
  query: Partial<Record<FilterName, readonly string[] | undefined>>,
): SessionFilters | undefined {
  const filters = new Map<FilterName, readonly FilterPattern[]>()
  for (const name of filterNames) {
    const values = query[name] ?? []
    const asStored = storedForms[name] ?? ((value) => value)
    const patterns = values.map((value) => readValue(name, asStored(value))!)
    if (patterns.length > 0) filters.set(name, patterns)
  }
  return filters.size === 0 ? undefined : filters
}

export const filterSigns =
  'Filters choose sessions, by their entry unless said: several values are or, `!` before one is not, `*` is any text.'

/** Where the name doesn't say it. */
const meanings: Readonly<Record<FilterName, string>> = {
  source: 'Source',
  medium: 'Medium',
  channel: 'Channel group',
  campaign: 'Campaign',
  entry_path: 'First page viewed',
  exit_path: 'Last page viewed',
  device: 'Kind of device',
  browser: 'Browser',
  os: 'Operating system',
  country: 'ISO alpha-2',
  region: 'ISO 3166-2',
  city: '`Berlin, DE-BE`',
  path: 'Any page viewed; counts its pageviews',
  hostname: 'Of any page viewed',
  event: 'Any event; counts those',
  event_property: '`plan:pro`, of any event, or those of `event`',
}
/** Any other value of these is the caller's mistake. */
const known: Partial<Record<FilterName, readonly string[]>> = { channel: channels, device: Object.keys(devices) }

/** Members of an operation's query. How values are written, its description says (`filterSigns`). */
export const filterParameters = Object.fromEntries(filterNames.map((name) => [name, filterParameter(name)])) as Record<
  FilterName,
  ReturnType<typeof filterParameter>
>

function filterParameter(name: FilterName) {
  const list = z.array(filterValue(name)).max(filterValuesMax).optional()
  return repeated(list.meta({ description: `${meanings[name]}.` }))
}

/** One value of a filter, as it is sent. */
export function filterValue(name: FilterName) {
  return z
    .string()
    .max(filterTextLengthMax)
    .superRefine((text, context) => {
      const refuse = (build: Build) => context.addIssue({ code: 'custom', params: { build } })
      const names = known[name]
      const pattern = readValue(name, text)
      if (pattern === undefined) {
        const fault = `a property is its name of at most ${propertyNameLengthMax} characters, a colon and a value: plan:pro`
        return refuse((loc) => valueError(loc, text, fault))
      }
      const { texts } = pattern
      if (texts.length - 1 > filterWildcardsMax) {
        return refuse((loc) => valueError(loc, text, `a filter has at most ${filterWildcardsMax} wildcards`))
      }
      if (texts.length > 1) return
      if (name === 'country' && texts[0] !== 'unknown' && !isCountryCode(texts[0]!.toUpperCase())) {
        return refuse((loc) => valueError(loc, text, 'a country is an ISO alpha-2 code, or `unknown`'))
      }
      if (names !== undefined && !names.includes(texts[0]!)) refuse((loc) => enumError(loc, text, names))
    })
}
