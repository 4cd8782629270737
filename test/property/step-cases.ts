/**
 * Random sites for questions about names of events and about steps in order. Few visitors have many events at one
 * moment, and sessions over midnight and after silent days. There are events of servers, vitals, crawlers, late events
 * and some that aren't folded.
 */
import fc from 'fast-check'
import { expect } from 'vitest'
import { fixedClock } from '../../runtime/clock.ts'
import type { EventRow, Kind } from '../../schemas/event/row.ts'
import { day, hour, kind as kindNumbers, minute, second } from '../oracle/facts.ts'
import { filterFacts, fits } from '../oracle/filters.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import {
  type EventLike,
  insertBotVisitRows,
  insertEventRows,
  makeBotVisitRow,
  makeEventRow,
} from '../support/event-rows.ts'
import { foldWhatIsThere } from '../support/fold.ts'
import { isLong, seed } from '../support/short-form.ts'
import type { TestStores } from '../support/stores.ts'

export const now = Date.parse('2026-11-20T14:25:00Z')
/** How many cases are drawn of each question. */
export const runs = Number(process.env['RUNS'] ?? (isLong ? 1000 : 50))
const timezones = ['UTC', 'Asia/Kolkata', 'America/New_York'] as const

export interface Site {
  readonly timezone: string
  readonly events: readonly EventLike[]
}

export interface PlacedSite extends Site, TestWorkspace {
  /** Those that are folded. */
  readonly rows: readonly EventRow[]
}

const names: Partial<Record<Kind, readonly string[]>> = {
  custom: ['signup', 'sign*up', 'Plan 😀'],
  conversion: ['purchase', 'signup'],
  autocapture: ['button_click'],
}
const properties = [
  '{}',
  '{"plan":"pro","n":1}',
  '{"plan":"<b>x</b>"}',
  '{"plan":{"a":[1,"é"]}}',
  '{"plan":null}',
  '{"plan":2.5,"n":"1"}',
  JSON.stringify({ plan: '‮😀'.repeat(150) }),
] as const

const kind = fc.constantFrom<Kind[]>(
  ...Array<Kind>(5).fill('pageview'),
  ...(['custom', 'custom', 'conversion', 'autocapture', 'web_vital', 'page_leave', 'identify'] as const),
)
const event = kind.chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    visitor: fc.constantFrom(1, 1, 1, 2, 2, 3, 0),
    session: fc.constantFrom(1, 1, 2),
    path: fc.constantFrom('/', '/', '/a', '/a', '/b', '/p/1', '/p/2'),
    occurred_at: fc
      .tuple(
        fc.constantFrom(12, 9, 8, 3, 2, 1, 1, 0, 0),
        fc.constantFrom(0, 0, 0, 1, 2, second, minute, hour, 9 * hour, 20 * hour),
      )
      .map(([days, ms]) => Math.min(now - 2 * hour - days * day + ms, now - 1)),
    device: fc.constantFrom('desktop' as const, 'mobile' as const),
    source: fc.constantFrom('', 'google', 'news'),
    properties: fc.constantFrom(...properties),
    ...(names[kind] && { event_name: fc.constantFrom(...names[kind]) }),
  }),
)

export const sites: fc.Arbitrary<Site> = fc.record({
  timezone: fc.constantFrom(...timezones),
  events: fc.oneof(fc.array(event, { minLength: 1, maxLength: 12 }), {
    weight: 3,
    arbitrary: fc.array(event, { minLength: 40, maxLength: 80 }),
  }),
})

/** Steps as a funnel's query has them. */
export const steps = fc.constantFrom(
  'path:/',
  'path:/',
  'path:/a',
  'path:/a',
  'path:/b',
  'path:/p/*',
  'path:*',
  'event:signup',
  'event:purchase',
  'event:sign\\*up',
  'event:*click',
  'event:pageview',
)

export function isOf(text: string, { kind: its, path, event_name }: EventRow): boolean {
  const [, of, value] = /^(path|event):(.*)$/s.exec(text)!
  return of === 'path' ? its === kindNumbers.pageview && fits(value!, path) : fits(value!, event_name)
}

/** Filters as a query has them; most sites have none. */
export const someFilters: fc.Arbitrary<Record<string, string[]>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  fc.constantFrom<Record<string, string[]>[]>(
    { device: ['desktop'] },
    { path: ['/a', '/p/*'] },
    { event: ['signup'] },
    { source: ['!google'], path: ['!/b'] },
    { channel: ['Direct'], event: ['*'] },
  ),
)

/** Ranges as a query has them. */
export const someRanges: fc.Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>[]>(
  { days: '1' },
  { days: '9' },
  { days: '30' },
  // More days than a word has bits, which ends among the events.
  { days: '66' },
  { days: '73' },
  { hours: '30' },
  { start: '2026-11-11', end: '2026-11-18' },
  { start: '2026-11-12T12:25:00Z', end: '2026-11-19T12:25:00.001Z' },
)

/** Stores, and an API at `now` that is asked about them. */
export function setUpSites() {
  const { stores, api, mine } = setUpApi({ hasYearlyParts: true, clock: fixedClock(now) })
  const send = (question: string, key: string) => api.ask(`/v1/analytics/${question}`, { key })
  async function ask<Answer>(question: string, key: string): Promise<Answer> {
    const response = await send(question, key)
    const answer = (await response.json()) as Answer
    expect([question, response.status, answer]).toEqual([question, 200, answer])
    return answer
  }
  async function expectRefused(question: string, text: string): Promise<void> {
    const response = await send(question, mine.apiKey)
    expect([response.status, JSON.stringify(await response.json())]).toEqual([422, expect.stringContaining(text)])
  }
  return { stores, api, mine, ask, expectRefused }
}

/** Events of the sessions that filters choose; all of them without any. */
export function chosenOf(
  { rows, timezone }: PlacedSite,
  filters: Readonly<Record<string, readonly string[]>>,
): readonly EventRow[] {
  if (Object.keys(filters).length === 0) return rows
  return filterFacts({ events: rows }, filters, timezone).events as EventRow[]
}

/** Random cases with their sites placed. `tell` names one where it fails. */
export async function drawCases<Case extends { site: Site }>(
  stores: TestStores,
  cases: fc.Arbitrary<Case>,
  betweenFolds?: () => Promise<void>,
): Promise<(Case & { placed: PlacedSite; tell: (question: string) => string })[]> {
  const drawn = fc.sample(cases, { seed, numRuns: runs })
  const sites = drawn.map(({ site }) => site)
  const all = await placeSites(stores, sites, betweenFolds)
  return drawn.map((one, at) => ({
    ...one,
    placed: all[at]!,
    tell: (question) => `SEED=${seed}, case ${at}: ${question}, ${one.site.timezone}`,
  }))
}

/** A third of each site's events comes after the first fold. No figure may know of what comes after the last one. */
export async function placeSites(
  stores: TestStores,
  all: readonly Site[],
  betweenFolds = async () => {},
): Promise<PlacedSite[]> {
  const placed = await Promise.all(
    all.map(async ({ timezone, events }) => {
      const workspace = await makeWorkspace(stores, { timezone, plan: 'scale' })
      return { ...workspace, timezone, events, rows: [] as EventRow[] }
    }),
  )
  for (const isLate of [false, true]) {
    // Ids grow in the order in which events come in.
    const added = placed.flatMap(({ workspaceId, events, rows }) => {
      const some = events.filter((_, at) => (at % 3 === 0) === isLate)
      const more = some.map((event) => makeEventRow({ ...event, workspace_id: workspaceId }))
      rows.push(...more)
      return more
    })
    await insertEventRows(stores.ch, added)
    await foldWhatIsThere(stores)
    if (!isLate) await betweenFolds()
  }
  const ofOne = placed.map(({ workspaceId }) => workspaceId)
  await insertBotVisitRows(
    stores.ch,
    ofOne.flatMap((workspace_id) =>
      ['/', '/a'].map((path) => makeBotVisitRow({ workspace_id, path, occurred_at: now - hour })),
    ),
  )
  const unfolded = ofOne.flatMap((workspace_id) =>
    ['/', '/a', '/b'].map((path, at) => makeEventRow({ workspace_id, path, visitor: 1, occurred_at: now - hour + at })),
  )
  await insertEventRows(stores.ch, unfolded)
  return placed
}

/** The query of a question, each value of a list as a parameter of its own. */
export function queryOf(values: Readonly<Record<string, string | readonly string[]>>): string {
  return new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, one as string]),
    ),
  ).toString()
}
