/** The numbers of a portion and the vocabulary as named SQL expressions. */
import { seedClientEventIdsMs } from '../../schemas/limits/seed-limits.ts'
import { type PlaceEntry, placesOf } from './places.ts'
import type { Portion, SeedShape } from './plan.ts'
import {
  agents,
  blockVisits,
  campaigns,
  capturedNames,
  contents,
  conversionNames,
  countries,
  customNames,
  pages,
  scripts,
  sources,
} from './vocabulary.ts'

export interface SeedRows extends SeedShape {
  readonly seed: number
  /** Ids of the workspaces, in the order of their events. */
  readonly workspaceIds: readonly number[]
  readonly eventsOf: readonly number[]
  /** First segment number of the lease. */
  readonly lease: number
  readonly hasAllClientEventIds: boolean
}

export function constantsOf(rows: SeedRows, portion: Portion): Record<string, string> {
  return { ...vocabulary, ...numbersOf(rows, portion) }
}

function numbersOf(rows: SeedRows, portion: Portion): Record<string, string> {
  const { pieces } = portion
  let blockCount = 0
  const rangeStarts = portion.blocks.map(({ count }) => {
    blockCount += count
    return blockCount - count
  })
  const numbers = {
    seed: rows.seed,
    days: rows.days,
    lease: rows.lease,
    first_segment: portion.firstSegment,
    block_count: blockCount,
    weight_from: pieces[0]!.weightBefore,
    weight_to: pieces.at(-1)!.weightAfter,
  }
  const times = {
    until: rows.until,
    received_from: portion.from,
    received_to: portion.to,
    client_event_ids_from: rows.hasAllClientEventIds ? 0 : rows.until - seedClientEventIdsMs,
  }
  return {
    ...mapped(numbers, (value) => `toUInt64(${value})`),
    ...mapped(times, (value) => `toInt64(${value})`),
    events_of: listOf('UInt64', rows.eventsOf),
    workspace_ids: listOf('UInt32', rows.workspaceIds),
    range_start: listOf('UInt64', rangeStarts),
    place_of: listOf(
      'UInt64',
      portion.blocks.map(({ workspace }) => workspace + 1),
    ),
    first_block: listOf(
      'UInt64',
      portion.blocks.map(({ first }) => first),
    ),
    weights: listOf(
      'UInt64',
      pieces.map(({ weightBefore }) => weightBefore),
    ),
    next_weights: listOf(
      'UInt64',
      pieces.map(({ weightAfter }) => weightAfter),
    ),
    starts: listOf(
      'Int64',
      pieces.map(({ start }) => start),
    ),
    ends: listOf(
      'Int64',
      pieces.map(({ end }) => end),
    ),
  }
}

function mapped<Value>(
  values: Readonly<Record<string, Value>>,
  sqlOf: (value: Value) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, sqlOf(value)]))
}

function listOf(type: string, values: readonly unknown[]): string {
  return `CAST(${literal(values)} AS Array(${type}))`
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : String(value)
}

const vocabulary = {
  block_visits: listOf('Array(UInt64)', blockVisits),
  scripts: listOf('Array(Array(UInt8))', scripts),
  devices: listOf(
    'UInt8',
    agents.map(({ device }) => device),
  ),
  widths: listOf(
    'UInt16',
    agents.map(({ screenWidth }) => screenWidth),
  ),
  are_campaigns: listOf(
    'UInt8',
    sources.map(({ isCampaign }) => Number(isCampaign)),
  ),
  ...mapped(
    {
      regions: ofPlaces(({ region }) => region),
      region_names: ofPlaces(({ regionName }) => regionName),
      cities: ofPlaces(({ city }) => city),
    },
    (lists) => listOf('Array(String)', lists),
  ),
  ...mapped(
    {
      sources: sources.map(({ source }) => source),
      media: sources.map(({ medium }) => medium),
      referrers: sources.map(({ referrer }) => referrer),
      campaigns,
      contents,
      countries: countries.map(({ code }) => code),
      languages: countries.map(({ language }) => language),
      timezones: countries.map(({ timezone }) => timezone),
      browsers: agents.map(({ browser }) => browser),
      systems: agents.map(({ os }) => os),
      paths: pages.map(({ path }) => path),
      titles: pages.map(({ title }) => title),
      captured_names: capturedNames,
      custom_names: customNames,
      conversion_names: conversionNames,
    },
    literal,
  ),
}

/** A list for each country. */
function ofPlaces(of: (place: PlaceEntry) => string): string[][] {
  return countries.map(({ code }) => placesOf(code).map(of))
}
