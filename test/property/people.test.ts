/**
 * Random identity histories are sent in random orders with repeats, and applied by rounds that die anywhere. People,
 * journeys and totals equal the model's. RUNS says how many histories (10,000 in the long form), SEED which.
 */
import { expect, test } from 'vitest'
import { mergeInbox } from '../../pipeline/people/merge.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import type { FactLimits } from '../../postgres/tables/people/bindings.ts'
import { makeLog } from '../../runtime/log.ts'
import type { Conversions } from '../../schemas/resources/conversion.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { foldStored } from '../support/figures.ts'
import { workOn } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import { askPeople, mergeAndRefreshPeople, type SentEvent, track } from '../support/people.ts'
import { isLong, makeRandom, seed } from '../support/short-form.ts'
import type { TestStores } from '../support/stores.ts'
import {
  countForgotten,
  countOthersCredits,
  creditsOf,
  type ModelEvent,
  type ModelPerson,
  peopleOf,
  timezone,
} from './people-model.ts'

const runs = Number(process.env['RUNS'] ?? (isLong ? 10_000 : 50))
/** More than any history has; and so few that many have more, in which people share few browsers. */
const kinds = [
  {
    limits: { periodsMax: 100, factsMax: 100 },
    browsersMax: 4,
    types: ['track', 'track', 'track', 'identify', 'conversion'],
  },
  { limits: { periodsMax: 2, factsMax: 4 }, browsersMax: 2, types: ['track', 'identify', 'identify', 'conversion'] },
] as const
/** Histories that are sent together, each to a workspace of its own. */
const together = 25
const askedAtOnce = 5
const timeoutMs = 300_000 + runs * 2_000

const { stores, api } = setUpApi({ hasYearlyParts: true, sharesWorkspace: true })
const ingest = setUpIngest(stores)

interface History {
  readonly workspace: TestWorkspace
  readonly events: readonly (Omit<ModelEvent, 'id'> & { readonly sent: SentEvent })[]
}

const minute = 60_000
const begin = Math.floor(Date.now() / minute) * minute - 70 * 60 * minute

function makeHistory(
  workspace: TestWorkspace,
  random: (below: number) => number,
  { browsersMax, types }: (typeof kinds)[number],
): History {
  const browsers = Array.from({ length: 1 + random(browsersMax) }, (_, nth) => `browser-${nth}`)
  const emails = Array.from({ length: 1 + random(3) }, (_, nth) => `p${nth}@example.com`)
  const one = <T>(all: readonly T[]) => all[random(all.length)]!
  const events = Array.from({ length: 2 + random(14) }, (_, nth) => {
    // Often of one moment: then ids tell which came first. Over some days: sessions pass midnight, and come back later.
    const at = begin + random(24) * 160 * minute
    const type = one<(typeof types)[number]>(types)
    const browser = random(type === 'conversion' ? 3 : 8) === 0 ? null : one(browsers)
    const hasEmail = type === 'identify' || browser === null || random(3) === 0
    const email = hasEmail ? one(emails) : null
    const session = `s${random(3)}`
    const source = random(3) === 0 ? one(['news', 'ads', 'blog']) : null
    const name = random(3) === 0 ? one(['Ann', 'Ben', 'Zoë']) : ''
    const sent = {
      event_type: type,
      event_name: `e${nth}`,
      client_event_id: `c${nth}`,
      occurred_at: new Date(at).toISOString(),
      ...(browser !== null && { anonymous_id: browser, session_id: session }),
      ...(email !== null && { email: random(2) === 0 ? email : ` ${email.toUpperCase()} ` }),
      ...(source !== null && { source, medium: 'paid' }),
      ...(name !== '' && { full_name: name }),
    }
    const isIdentity = type !== 'track'
    return { at, browser, session, email, isIdentity, isConversion: type === 'conversion', name, source, sent }
  })
  return { workspace, events }
}

/** Stores whose calls fail now and then, before or after they did something: as for a process that dies there. */
function dying({ pg, ch }: TestStores, random: (below: number) => number): Pick<TestStores, 'pg' | 'ch'> {
  const mayDie = async <T>(work: () => Promise<T>): Promise<T> => {
    if (random(25) === 0) throw new Error('died before')
    const result = await work()
    if (random(25) === 0) throw new Error('died after')
    return result
  }
  return {
    pg: {
      ...pg,
      query: (...args) => mayDie(() => pg.query(...args)) as never,
      transaction: (work) =>
        mayDie(() => pg.transaction((tx) => work({ query: (...args) => mayDie(() => tx.query(...args)) as never }))),
    },
    ch: {
      ...ch,
      query: (...args) => mayDie(() => ch.query(...args)) as never,
      command: (...args) => mayDie(() => ch.command(...args)),
    },
  }
}

function shuffled<T>(all: readonly T[], random: (below: number) => number): T[] {
  const rest = [...all]
  return Array.from(all, () => rest.splice(random(rest.length), 1)[0]!)
}

/** Sends events in a random order, some of them twice, and lets rounds die between. @returns the ids by event's name */
async function sendAll(
  histories: readonly History[],
  random: (below: number) => number,
  limits: FactLimits,
): Promise<Map<string, number>[]> {
  const ids = histories.map(() => new Map<string, number>())
  const log = makeLog('test', 'silent')
  const left = histories.map(({ events }) => shuffled([...events, ...events.filter(() => random(4) === 0)], random))
  for (let round = 0; left.some((events) => events.length > 0); round++) {
    const batches = left.map((events) => events.splice(0, round < 2 ? 1 + random(8) : events.length))
    const sendOne = async (batch: (typeof batches)[number], nth: number) => {
      if (batch.length === 0) return
      const sent = batch.map((event) => event.sent)
      const answered = await track(ingest, histories[nth]!.workspace, sent)
      for (const [at, id] of answered.entries()) ids[nth]!.set(String(sent[at]!['event_name']), id)
    }
    await Promise.all(batches.map(sendOne))
    await ingest.shipped()
    await foldStored(stores)
    for (let tries = 0; tries < 3; tries++) {
      const { pg, ch } = dying(stores, random)
      const options = { pg, hashes: stores.hashes, log, now: Date.now(), limits }
      await mergeInbox({ ...options, rowsMax: 1 + random(40) }).catch(() => {})
      await refreshPeople(workOn({ pg, ch }), Date.now()).catch(() => {})
    }
  }
  await mergeAndRefreshPeople(stores, limits)
  // Conversions are derived anew where they are credited otherwise.
  await foldStored(stores)
  return ids
}

/** Sources of conversions, as each says it and as the overview counts all. */
async function shownCredits(workspace: TestWorkspace): Promise<Map<number, string>> {
  const read = async (path: string) => {
    const response = await api.ask(path, { key: workspace.apiKey })
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
    return response.json()
  }
  const { conversions } = (await read('/v1/analytics/conversions?days=5&limit=200')) as Conversions
  const { top_sources } = (await read('/v1/analytics/overview?days=5&include=top_sources')) as {
    top_sources: { source: string; conversions: number }[]
  }
  const counted = new Map<string, number>()
  for (const { credit } of conversions) counted.set(credit.source, (counted.get(credit.source) ?? 0) + 1)
  const shown = top_sources.filter((row) => row.conversions > 0).map((row) => [row.source, row.conversions])
  expect(shown.sort()).toEqual([...counted].sort())
  for (const { credit, touches } of conversions) {
    const credited = touches.filter(({ is_credited }) => is_credited).map(({ source }) => source)
    const isByTouch = credit.rule === 'touch' || (credit.rule === 'event' && credit.source !== 'direct')
    expect(credited).toEqual(isByTouch ? [credit.source] : [])
    expect(touches.length > 0).toBe(isByTouch)
  }
  return new Map(conversions.map(({ event, credit }) => [event.id, credit.source]))
}

async function shownPeople(workspace: TestWorkspace): Promise<ModelPerson[]> {
  const asker = askPeople(api, workspace)
  const people = await asker.people({ limit: '250' })
  expect(people.map(({ last_seen_at }) => last_seen_at)).toEqual(
    people
      .map((one) => one.last_seen_at)
      .sort()
      .reverse(),
  )
  const shown: ModelPerson[] = []
  for (const person of people) {
    const named = person.id === null ? { anonymous_id: person.anonymous_id! } : { contact_id: String(person.id) }
    const journey = await asker.journey(named)
    expect(journey.person).toEqual(person)
    shown.push({
      who: person.email ?? person.anonymous_id!,
      browsers: [...journey.anonymous_ids].sort(),
      name: person.full_name,
      sessions: person.session_count,
      events: person.event_count,
      conversions: person.conversion_count,
      firstSource: person.first_source,
      lastSource: person.source,
      firstAt: Date.parse(person.first_seen_at),
      lastAt: Date.parse(person.last_seen_at),
      ids: journey.events.map(({ id }) => id),
    })
  }
  return shown
}

const byName = (a: ModelPerson, b: ModelPerson) => (a.who < b.who ? -1 : 1)

test(
  'random identity histories come to the same people, journeys and totals as the model’s',
  async () => {
    let known = 0
    let credited = 0
    let byOthers = 0
    let forgotten = 0
    for (let done = 0; done < runs; done += together) {
      const kind = kinds[(done / together) % kinds.length]!
      const { limits } = kind
      const draw = makeRandom(seed + done)
      const random = (below: number) => Math.floor(draw() * below)
      const makeOne = async () => makeHistory(await makeWorkspace(stores, { timezone }), random, kind)
      const histories: History[] = []
      while (histories.length < Math.min(together, runs - done)) histories.push(await makeOne())
      const ids = await sendAll(histories, random, limits)
      const judge = async ({ workspace, events }: History, nth: number) => {
        const model = events.map((event) => ({ ...event, id: ids[nth]!.get(String(event.sent['event_name']))! }))
        const expected = peopleOf(model, limits)
        known += expected.filter(({ who }) => who.includes('@')).length
        const label = `history ${done + nth} of seed ${seed}: ${JSON.stringify(events.map(({ sent }) => sent))}`
        expect((await shownPeople(workspace)).sort(byName), label).toEqual(expected.sort(byName))
        const credits = creditsOf(model, limits)
        credited += [...credits.values()].filter((source) => source !== 'direct').length
        forgotten += countForgotten(model, limits)
        byOthers += countOthersCredits(model, limits)
        expect(await shownCredits(workspace), label).toEqual(credits)
      }
      for (let at = 0; at < histories.length; at += askedAtOnce)
        await Promise.all(histories.slice(at, at + askedAtOnce).map((one, nth) => judge(one, at + nth)))
    }
    // It isn't about nobody.
    expect(known).toBeGreaterThan(runs / 2)
    expect(credited).toBeGreaterThan(runs / 8)
    expect(byOthers).toBeGreaterThan(runs / 16)
    expect(forgotten).toBeGreaterThan(runs / 16)
  },
  timeoutMs,
)
