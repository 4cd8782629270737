/** `svc people erase`: nothing is left of a person, anywhere, and the figures are those of everybody else. */
import { join } from 'node:path'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { fold } from '../../pipeline/fold/fold.ts'
import { whileLeased } from '../../pipeline/fold/lease.ts'
import { eraseNext } from '../../pipeline/people/erase.ts'
import { type NamedPerson, type OrderedErasure, orderErasure } from '../../pipeline/people/order-erasure.ts'
import { refreshAndErasePeople } from '../../pipeline/people/refresh-and-erase.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { listStaleCells } from '../../postgres/tables/figures/figure-builds.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { deleteOldContacts } from '../../postgres/tables/people/contacts.ts'
import { nextErasure, noteRepaired, noteSuccess, noteTry, readErasure } from '../../postgres/tables/people/erasures.ts'
import { recordRepairs } from '../../postgres/tables/people/event-repairs.ts'
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { type Log, makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import type { AnalyticsOverview } from '../../schemas/resources/overview.ts'
import type { Retention } from '../../schemas/resources/retention.ts'
import { makeWorkspace, setUpApi, type TestWorkspace } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { exactFigures, judgeFigures } from '../support/figures.ts'
import { closeDaysAt, foldAll, workOn } from '../support/fold.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { setUpIngest } from '../support/ingest.ts'
import { jobContext } from '../support/job-context.ts'
import {
  askPeople,
  bindAlternately,
  mergeAndRefreshPeople,
  type SentEvent,
  settlePeople,
  track,
} from '../support/people.ts'
import { asking } from '../support/publishing.ts'
import { isLong } from '../support/short-form.ts'
import type { TestStores } from '../support/stores.ts'

/** The API's clock stands still: a midnight between two answers would change where figures begin. */
const now = Date.now()
const { stores, api } = setUpApi({ sharesWorkspace: true, clock: { now: () => now } })
const ingest = setUpIngest(stores)
/** Has everybody but Ann; and what it shows, which no erasure elsewhere changes. */
let alone: TestWorkspace
let aloneShown: unknown
beforeAll(async () => {
  alone = await prepare(others)
  aloneShown = await shownOf(alone)
})
// Those that a test only ordered.
afterEach(() => stores.pg.query('DELETE FROM erasures WHERE done_at IS NULL'))

/** An hour and a half before a UTC midnight: Ann's first event is the only one of its day, and within the last 72 hours. */
const begin = Math.floor((now + 3_600_000) / 86_400_000 - 2) * 86_400_000 - 5_400_000
/** Hours from the begin: over two midnights. */
const event = (anonymous_id: string | null, hours: number, more: SentEvent = {}): SentEvent => ({
  event_name: 'pageview',
  ...(anonymous_id !== null && { anonymous_id, session_id: `s-${anonymous_id}-${hours >> 3}` }),
  url: 'https://example.com/',
  occurred_at: new Date(begin + hours * 3_600_000).toISOString(),
  ...more,
})
const identify = (anonymous_id: string, hours: number, email: string) =>
  event(anonymous_id, hours, { event_type: 'identify', email, full_name: `Name of ${email}` })

/** A view of one page, and its measurement. */
const seen = (visitor: string, hours: number, more: SentEvent = {}) => [
  event(visitor, hours, { url: 'https://example.com/seen', ...more }),
  event(visitor, hours, {
    url: 'https://example.com/seen',
    event_name: 'web_vital',
    properties: { metric: 'LCP', value: 5_000 },
  }),
]

/** Events that stay when Ann goes. */
const others = [
  ...seen('c', 30),
  event('shared', 20, { event_type: 'identify', email: 'ben@example.com' }),
  event('shared', 21),
  event('shared', 45),
  event('c', 3),
  event('c', 46, { event_type: 'conversion' }),
  event(null, 5, { email: 'ben@example.com', event_type: 'conversion' }),
]
const anns = [
  event('a', 1, { source: 'news', medium: 'email' }),
  // A title that nobody else saw.
  ...seen('a', 1, { title: 'Dear Ann' }),
  // The same of an app's screen, which has no path.
  event('a', 1, { url: null, title: 'Welcome, Ann' }),
  { ...identify('a', 2, 'ann@example.com'), properties: { user_id: 'user-of-ann' } },
  event('a', 30, { event_type: 'conversion' }),
  event('shared', 4),
  identify('shared', 6, 'ann@example.com'),
  event(null, 5, { email: 'ann@example.com', event_type: 'conversion' }),
]

/** A mutation of several parts takes a second, and one of a single part 30 ms. */
async function mergeParts(): Promise<void> {
  for (const table of ['events', 'person_events', 'sessions', 'visitors', 'credits'])
    await stores.ch.command(`OPTIMIZE TABLE ${table} FINAL SETTINGS optimize_skip_merged_partitions = 1`)
}

async function svc(workspace: TestWorkspace, ...words: string[]) {
  await mergeParts()
  return svcOn(stores, 'people', 'erase', ...words, '--workspace', String(workspace.workspaceId))
}

/** Rows in Postgres are gone with it; the events go when it is done. */
function order({ workspaceId }: TestWorkspace, named: NamedPerson) {
  const { pg, ch, hashes } = stores
  const options = { ch, hashes, log: makeLog('test', 'silent'), now: Date.now() }
  return pg.transaction((tx) => orderErasure(tx, workspaceId, named, options))
}

/** One is done once everything that was answered before it is folded, and ClickHouse has deleted its rows. */
async function erase(log?: Log): Promise<void> {
  await mergeParts()
  do {
    await sleep(20)
    await foldAll(stores)
  } while (!(await eraseNext(workOn(stores), Date.now(), log)))
}

/** As the command does, where it isn't about its words. @returns the number of events */
async function eraseBy(workspace: TestWorkspace, named: NamedPerson): Promise<number> {
  const { erasureId } = (await order(workspace, named)) as OrderedErasure
  await erase()
  return (await readErasure(stores.pg, erasureId))!.events!
}

const range = `start=${new Date(begin - 3_600_000).toISOString()}&end=${new Date(now).toISOString()}`

async function shownOf(workspace: TestWorkspace) {
  const response = await api.ask(`/v1/analytics/overview?${range}`, { key: workspace.apiKey })
  const { snippet: _, metrics, recent_events, ...lists } = (await response.json()) as Record<string, unknown>
  const retention = await api.ask(`/v1/analytics/retention?${range}&interval=day`, { key: workspace.apiKey })
  return {
    lists,
    cohorts: ((await retention.json()) as Retention).cohorts,
    metrics: { ...(metrics as object), as_of: '', range: '', previous: '' },
    recent: (recent_events as unknown[]).length,
  }
}

/** The title of the page that Ann saw, and how many measurements it has. Whole days are read from cells. */
async function shownAsSeen({ apiKey }: TestWorkspace) {
  const answer = await api.ask('/v1/analytics/overview?days=5&include=top_pages,web_vital_pages', { key: apiKey })
  const { top_pages, web_vital_pages } = (await answer.json()) as AnalyticsOverview
  const ofPage = ({ path }: { readonly path: string }) => path === '/seen'
  return [top_pages.find(ofPage)!.title, web_vital_pages!.find(ofPage)!.samples]
}

/** Every table of both stores that has a text like that somewhere, in any case. */
async function placesWith(pattern: string): Promise<string[]> {
  const found: string[] = []
  const tables = await stores.pg.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  )
  for (const { name } of tables) {
    const rows = await stores.pg.query(`SELECT 1 FROM ${name} AS t WHERE t::text ~* $1 LIMIT 1`, [pattern])
    if (rows.length > 0) found.push(name)
  }
  for (const { name } of await stores.ch.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  )) {
    const rows = await stores.ch.query(
      `SELECT 1 FROM ${name} WHERE match(toString(tuple(*)), {pattern:String}) LIMIT 1`,
      { pattern: `(?i)${pattern}` },
    )
    if (rows.length > 0) found.push(name)
  }
  return found
}

async function prepare(events: readonly SentEvent[]): Promise<TestWorkspace> {
  const workspace = await makeWorkspace(stores)
  // Somebody is told of people and conversions.
  await asking(api, () => workspace.apiKey)('POST', '/v1/webhooks', { url: 'https://example.com/hook' })
  await track(ingest, workspace, events)
  await settlePeople(stores, ingest)
  return workspace
}

/** As the ledger has it once it is credited: by whom the payment is known, and hours from the begin. */
async function makePayment({ workspaceId }: TestWorkspace, field: string, value: string, hours: number): Promise<void> {
  const payment = `${field} at ${hours}`
  await stores.pg.query(
    `INSERT INTO revenue_payments (workspace_id, provider, payment, refs, occurred_at, import_day, source, visitor, session)
     VALUES ($1, 'custom', $2, ARRAY['of ' || $2], $3, now(), 'news', '12', '34')`,
    [workspaceId, payment, new Date(begin + hours * 3_600_000)],
  )
  await stores.pg.query(
    `INSERT INTO revenue_payers (workspace_id, provider, reference, field, value, told_at)
     VALUES ($1, 'custom', 'of ' || $2, $3, $4, now())`,
    [workspaceId, payment, field, value],
  )
}

async function toldConversions({ workspaceId }: TestWorkspace): Promise<number> {
  const which = `workspace_id = $1 AND type = 'conversion.recorded'`
  return (await stores.pg.query(`SELECT 1 FROM outbox WHERE ${which}`, [workspaceId])).length
}

async function listed(workspace: TestWorkspace) {
  const people = await askPeople(api, workspace).people()
  return people.map(({ id: _, object_id: __, contact_id: ___, ...person }) => person)
}

test('removes a person everywhere, and leaves what is as if the person had never been', async () => {
  const workspace = await prepare([...anns, ...others])
  await makePayment(workspace, 'email', 'ann@example.com', 30)
  await makePayment(workspace, 'user_id', 'user-of-ann', 30)
  // Ann's time on the shared browser, and Ben's.
  await makePayment(workspace, 'anonymous_id', 'shared', 7)
  await makePayment(workspace, 'anonymous_id', 'shared', 22)
  // Somebody else's, though its customer was Ann once.
  await makePayment(workspace, 'email', 'ben@example.com', 31)
  await stores.pg.query(
    `UPDATE revenue_payments SET refs = ARRAY['payment:31', 'of email at 30'] WHERE payment = 'email at 31'`,
  )
  await stores.pg.query(`UPDATE revenue_payers SET reference = 'payment:31' WHERE reference = 'of email at 31'`)
  const ofAnn = 'ann@example.com|user-of-ann'
  expect(await placesWith(ofAnn)).toEqual(expect.arrayContaining(['contacts', 'events']))
  expect(await toldConversions(workspace)).toBe(4)
  await closeDaysAt(stores, Date.now())
  expect(await shownAsSeen(workspace)).toEqual(['Dear Ann', 2])
  const erased = await svc(workspace, '--email', 'Ann@Example.com')
  expect([erased.code, erased.err.includes('rror')]).toEqual([0, false])
  expect(erased.json).toMatchObject({ workspace_id: workspace.workspaceId, events: anns.length })
  await settlePeople(stores, ingest)
  expect(await placesWith(ofAnn)).toEqual([])
  expect(await toldConversions(workspace)).toBe(2)
  expect(await shownOf(workspace)).toEqual(aloneShown)
  expect(await listed(workspace)).toEqual(await listed(alone))
  const ledger = `SELECT payment, source, session FROM revenue_payments WHERE workspace_id = $1 ORDER BY payment`
  expect(await stores.pg.query(ledger, [workspace.workspaceId])).toEqual([
    { payment: 'anonymous_id at 22', source: 'news', session: '34' },
    { payment: 'anonymous_id at 7', source: 'news', session: null },
    { payment: 'email at 30', source: 'news', session: null },
    { payment: 'email at 31', source: 'news', session: '34' },
    { payment: 'user_id at 30', source: 'news', session: null },
  ])
  const payers = `SELECT reference FROM revenue_payers WHERE workspace_id = $1`
  expect(await stores.pg.query(payers, [workspace.workspaceId])).toEqual([
    { reference: 'of anonymous_id at 22' },
    { reference: 'payment:31' },
  ])
  // One that looked events up would do so for each part of the table, and hold up everybody's figures.
  const looking = `SELECT command FROM system.mutations WHERE database = currentDatabase() AND table LIKE '%events' AND command LIKE '%SELECT%'`
  expect(await stores.ch.query(looking)).toEqual([])
  const [audited] = await listAuditEvents(stores.pg, workspace.workspaceId, { limit: 1 })
  expect(audited).toMatchObject({ action: 'contact.erase', interface: 'cli', metadata: { browsers: 2 } })

  // Answered before the erasure by a node that comes back only now.
  const { workspaceId } = workspace
  const lease = await leaseSegments(stores.pg, 1_000)
  const id = lease * segmentRowsMax
  const hash = BigInt(stores.hashes.visitorOf(workspaceId, 'a'))
  const visitor = { hi: Number(hash >> 32n), lo: Number(hash & 0xffffffffn) }
  const late = { visitor, occurred_at: begin + 3_600_000, session: 7 }
  await insertEventRows(stores.ch, [{ ...makeEventRow(late), id, workspace_id: workspaceId }])
  await advanceMark(stores.pg, lease, id)
  await settlePeople(stores, ingest)
  expect(await shownOf(workspace)).not.toEqual(aloneShown)
  await mergeParts()
  await expireData(jobContext(stores, Date.now()))
  await settlePeople(stores, ingest)
  await erase()
  await settlePeople(stores, ingest)
  await closeDaysAt(stores, Date.now())
  expect(await shownAsSeen(workspace)).toEqual(['', 1])
  expect(await shownOf(workspace)).toEqual(aloneShown)
  expect(await shownOf(alone)).toEqual(aloneShown)
  expect(await judgeFigures(stores, workspace.workspaceId)).toEqual(exactFigures)
  expect(await nextErasure(stores.pg)).toBeUndefined()

  // Later events of Ann's time on the shared browser are of whoever had it next.
  for (const one of [workspace, alone]) await track(ingest, one, [event('shared', 5, { source: 'news' })])
  await settlePeople(stores, ingest)
  expect(await listed(workspace)).toEqual(await listed(alone))
})

test('an event that a clock which ran ahead has dated is removed as well', async () => {
  const workspace = await prepare([identify('z', 1, 'zoe@example.com')])
  const { workspaceId } = workspace
  const id = (await leaseSegments(stores.pg, 1_000)) * segmentRowsMax
  const hash = BigInt(stores.hashes.visitorOf(workspaceId, 'z'))
  const visitor = { hi: Number(hash >> 32n), lo: Number(hash & 0xffffffffn) }
  const dated = makeEventRow({ visitor, session: 7, occurred_at: begin, received_at: now + 3 * 86_400_000 })
  await insertEventRows(stores.ch, [{ ...dated, id, workspace_id: workspaceId }])
  await advanceMark(stores.pg, id / segmentRowsMax, id)
  await settlePeople(stores, ingest)
  expect(await eraseBy(workspace, { email: 'zoe@example.com' })).toBe(2)
  expect(await stores.ch.query(`SELECT id FROM events WHERE workspace_id = ${workspaceId}`)).toEqual([])
})

test('nothing is exported while somebody’s events wait to be removed', async () => {
  const { workspaceId } = await makeWorkspace(stores)
  const target = join(stores.dataDir, 'all.jsonl')
  const run = () => svcOn(stores, 'events', 'export', '--out', target, '--workspace', String(workspaceId))
  const insert = `INSERT INTO erasures (workspace_id, browsers) VALUES ($1, '[]')`
  await stores.pg.query(insert, [workspaceId])
  expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('are being removed') })
  await stores.pg.query('DELETE FROM erasures WHERE workspace_id = $1', [workspaceId])
  expect(await run()).toMatchObject({ code: 0, json: { events: 0 } })
})

test('while ClickHouse deletes events folds go on, nothing stays of what they derive from them, and who is identified again keeps none of it', async () => {
  const workspace = await prepare([...anns, ...others])
  const other = await makeWorkspace(stores)
  await mergeParts()
  await stores.ch.command('SYSTEM STOP MERGES events')
  try {
    await order(workspace, { email: 'ann@example.com' })
    await foldAll(stores)
    for (let step = 0; step < 3; step++) expect(await eraseNext(workOn(stores), Date.now())).toBe(false)
    const hours = [...anns, ...others].map(({ occurred_at }) => Math.floor(Date.parse(String(occurred_at)) / 3_600_000))
    await recordRepairs(
      stores.pg,
      hours.map((hour) => ({ workspaceId: workspace.workspaceId, hour })),
    )
    await track(ingest, other, [event('z', 1)])
    // Behind the range of figures that are compared.
    const occurred_at = new Date().toISOString()
    await track(ingest, workspace, [{ ...identify('new', 0, 'ann@example.com'), occurred_at }])
    await settlePeople(stores, ingest)
    expect((await askPeople(api, other).people()).length).toBe(1)
    expect(await nextErasure(stores.pg)).toBeDefined()
  } finally {
    await stores.ch.command('SYSTEM START MERGES events')
  }
  await erase()
  await settlePeople(stores, ingest)
  expect(await shownOf(workspace)).toEqual(aloneShown)
  expect(await judgeFigures(stores, workspace.workspaceId)).toEqual(exactFigures)
  const left = 'SELECT count() AS copies FROM person_events WHERE id NOT IN (SELECT id FROM events)'
  expect(await stores.ch.query(left)).toEqual([{ copies: 0 }])
  const ann = (await askPeople(api, workspace).people()).find(({ email }) => email === 'ann@example.com')!
  expect([ann.event_count, ann.conversion_count]).toEqual([1, 0])
  expect(Date.parse(ann.first_seen_at!)).toBeGreaterThan(begin + 30 * 3_600_000)
})

test('an erasure ends though late events make its days stale again after each of its steps', async () => {
  const workspace = await prepare([...anns, ...others])
  await closeDaysAt(stores, Date.now())
  const { erasureId } = (await order(workspace, { email: 'ann@example.com' })) as OrderedErasure
  const eventsRemoved = async () => (await readErasure(stores.pg, erasureId))!.events
  while (!(await nextErasure(stores.pg))!.isRepaired) {
    await sleep(20)
    await foldAll(stores)
    await eraseNext(workOn(stores), Date.now())
  }
  for (let round = 0; round < 10 && (await eventsRemoved()) === null; round++) {
    await track(ingest, workspace, [event(`late-${round}`, 1), event(`late-${round}`, 20)])
    await settlePeople(stores, ingest)
    await eraseNext(workOn(stores), Date.now())
  }
  expect(await eventsRemoved()).toBe(anns.length)
  expect((await listStaleCells(stores.pg, 10)).length).toBeGreaterThan(0)
  await closeDaysAt(stores, Date.now())
  expect(await judgeFigures(stores, workspace.workspaceId)).toEqual(exactFigures)
})

test('an erasure that may have deleted rows of others goes before new ones until it is repaired, unless it fails', async () => {
  const { pg } = stores
  const { workspaceId } = await makeWorkspace(stores)
  const insert = async (cleared: number | null) => {
    const [row] = await pg.query<{ id: number }>(
      `INSERT INTO erasures (workspace_id, browsers, places, cleared_version) VALUES ($1, '[]', '[]', $2) RETURNING id`,
      [workspaceId, cleared],
    )
    return row!.id
  }
  const [cleared, another] = [await insert(1), await insert(null)]
  const isNext = async (id: number) => expect((await nextErasure(pg))!.id).toBe(id)
  await noteTry(pg, cleared)
  await isNext(another)
  await noteSuccess(pg, cleared)
  await isNext(cleared)
  await noteRepaired(pg, cleared, [])
  await isNext(another)
})

/** In short every fourth of a step's calls is its last one. */
const deathsApart = isLong ? 1 : 4

test('an erasure that dies at its calls in turn is done again, and comes to the same', async () => {
  const workspace = await prepare([...anns, ...others])
  let deaths = 0
  let erasing: Promise<{ code: number }> | undefined
  // The command orders it, and can have no lease while this process has it.
  await whileLeased(stores.pg, stores.ch, new AbortController().signal, async () => {
    erasing = svc(workspace, '--email', 'ann@example.com')
    while ((await nextErasure(stores.pg)) === undefined) await sleep(20)
    // A step is tried with a death at each of its calls, until it comes to its end without one.
    for (let nth = 0; (await nextErasure(stores.pg)) !== undefined; ) {
      await foldAll(stores)
      const hasDied = await eraseNext(workOn(dyingAt(nth)), Date.now()).then(
        () => false,
        () => true,
      )
      nth = hasDied ? nth + deathsApart : 0
      if (hasDied) deaths++
      else await sleep(20)
    }
  })
  expect((await erasing!).code).toBe(0)
  expect(deaths).toBeGreaterThan(10)
  await settlePeople(stores, ingest)
  expect(await shownOf(workspace)).toEqual(aloneShown)
  expect(await judgeFigures(stores, workspace.workspaceId)).toEqual(exactFigures)
})

/** Stores of a process that dies at one of its calls, after it was made. */
function dyingAt(nth: number): Pick<TestStores, 'pg' | 'ch'> {
  let calls = 0
  const die = async <T>(work: () => Promise<T>): Promise<T> => {
    calls++
    const result = await work()
    if (calls === nth + 1) throw new Error('died')
    return result
  }
  const { pg, ch } = stores
  return {
    pg: { ...pg, query: (...args) => die(() => pg.query(...args)) as never },
    ch: {
      ...ch,
      query: (...args) => die(() => ch.query(...args)) as never,
      command: (...args) => die(() => ch.command(...args)),
    },
  }
}

test('who is no contact is erased by an e-mail that was named, or as a browser; one of a contact only with it', async () => {
  const workspace = await prepare([...anns, ...others, event('x', 1, { email: 'eve@example.com' })])
  await makePayment(workspace, 'email', 'payer@example.com', 3)
  expect(await eraseBy(workspace, { email: 'payer@example.com' })).toBe(0)
  expect(await placesWith('payer@example.com')).toEqual([])
  expect((await svc(workspace, '--email', 'eve@example.com')).json).toMatchObject({ events: 1 })
  const again = await svc(workspace, '--email', 'eve@example.com')
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('nobody is known by that name')])
  const refused = await svc(workspace, '--anonymous-id', 'shared')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('erase it by --contact')])
  await eraseBy(workspace, { anonymousId: 'c' })
  await settlePeople(stores, ingest)
  const people = await askPeople(api, workspace).people()
  expect(people.map(({ email, anonymous_id }) => email ?? anonymous_id)).toEqual(['ben@example.com', 'ann@example.com'])
  expect((await svc(workspace)).code).toBe(2)
})

/** Rows of the inbox: who or which browser, and hours from the begin. */
async function inboxOf({ workspaceId }: TestWorkspace): Promise<string[]> {
  const rows = await stores.pg.query<{ who: string; hours: number }>(
    `SELECT coalesce(email, anonymous_id) AS who, (extract(epoch FROM occurred_at) - $2) / 3600 AS hours FROM inbox
     WHERE workspace_id = $1 ORDER BY occurred_at`,
    [workspaceId, begin / 1_000],
  )
  return rows.map(({ who, hours }) => `${who} at ${Number(hours)}`)
}

let shipments = 0

/** A row that ingest took so many milliseconds from now, and ships now. */
async function shipLate(to: TestWorkspace, browser: string, hours: number, email: string | null, fromNow: number) {
  shipments += 1
  const row = makeInboxRow({
    event_id: 2 ** 40 + shipments,
    workspace_id: to.workspaceId,
    email,
    anonymous_id: browser,
    event_type: email === null ? 'conversion' : 'identify',
    event_name: 'late',
    occurred_at: begin + hours * 3_600_000,
    received_at: Date.now() + fromNow,
  })
  await stores.pg.transaction((tx) => insertInbox(tx, 2 ** 40 + shipments, [row]))
}

test('rows without an e-mail go by browser and time, also those that are stored after the erasure', async () => {
  const conversion = { event_type: 'conversion' }
  const workspace = await prepare([
    identify('both', 1, 'ann@example.com'),
    event('both', 2, conversion),
    identify('both', 3, 'ben@example.com'),
    event('both', 4, conversion),
    event('alone', 5, conversion),
  ])
  await order(workspace, { email: 'ann@example.com' })
  const bens = ['ben@example.com at 3', 'both at 4']
  expect(await inboxOf(workspace)).toEqual([...bens, 'alone at 5'])
  await order(workspace, { anonymousId: 'alone' })
  await shipLate(workspace, 'both', 2.5, null, -60_000)
  await shipLate(workspace, 'alone', 5, null, -60_000)
  await shipLate(workspace, 'alone', 6, 'eve@example.com', -60_000)
  // Ben's events, and those after the erasure.
  await shipLate(workspace, 'both', 7, null, -60_000)
  await shipLate(workspace, 'alone', 8, null, 60_000)
  await mergeAndRefreshPeople(stores)
  expect(await inboxOf(workspace)).toEqual([...bens, 'both at 7', 'alone at 8'])
  // Visitors whose events aren't removed yet are no contacts.
  const people = await askPeople(api, workspace).people()
  expect(people.flatMap(({ email }) => email ?? [])).toEqual(['ben@example.com'])
})

test('the time of somebody whose retention has ended is of whoever had the browser next', async () => {
  const workspace = await makeWorkspace(stores)
  const { ann } = await bindAlternately(stores.pg, workspace, { visitor: '1', periods: 2, from: begin, everyMs: 1_000 })
  await stores.pg.query('UPDATE contacts SET last_seen_at = 0 WHERE id = $1', [ann])
  expect(await deleteOldContacts(stores.pg, workspace.workspaceId, 1, 10)).toBe(1)
  const bound = 'SELECT from_at FROM bindings WHERE workspace_id = $1'
  expect(await stores.pg.query(bound, [workspace.workspaceId])).toEqual([{ from_at: 0 }])
})

test('an identify that is stored after the erasure leaves no trace', async () => {
  const workspace = await makeWorkspace(stores)
  await shipLate(workspace, 'a', 1, 'ann@example.com', -120_000)
  await order(workspace, { email: 'ann@example.com' })
  const sightings = () =>
    stores.pg.query(
      'SELECT (extract(epoch FROM first_seen) - $2)::int / 3600 AS hours FROM contact_sightings WHERE workspace_id = $1',
      [workspace.workspaceId, begin / 1_000],
    )
  await shipLate(workspace, 'a', 1.5, 'ann@example.com', -60_000)
  await mergeAndRefreshPeople(stores)
  expect([await inboxOf(workspace), await sightings()]).toEqual([[], []])
  // Beside one that was sent afterwards, which counts from its own time.
  await shipLate(workspace, 'a', 1.5, 'ann@example.com', -60_000)
  await shipLate(workspace, 'a', 9, 'ann@example.com', 60_000)
  await mergeAndRefreshPeople(stores)
  expect(await sightings()).toEqual([{ hours: 9 }])
})

test('a browser’s own id comes before the name of a hash that looks the same, and either can be erased', async () => {
  const workspace = await prepare([event(null, 1)])
  const { people, journey } = askPeople(api, workspace)
  const name = (await people())[0]!.anonymous_id!
  expect(name).toMatch(/^visitor_[0-9a-f]{16}$/)
  await track(ingest, workspace, [event(name, 2), event(name, 3)])
  await settlePeople(stores, ingest)
  for (const events of [2, 1]) {
    expect((await journey({ anonymous_id: name })).event_count).toBe(events)
    expect(await eraseBy(workspace, { anonymousId: name })).toBe(events)
    await settlePeople(stores, ingest)
  }
  expect(await people()).toEqual([])
})

test('events with the e-mail of another contact stay, whoever has their browser', async () => {
  const workspace = await makeWorkspace(stores)
  const conversion = (hours: number, email: string) => event('server', hours, { event_type: 'conversion', email })
  await track(ingest, workspace, [
    conversion(1, 'ann@example.com'),
    identify('b', 1.5, 'ben@example.com'),
    conversion(2, 'ben@example.com'),
    conversion(3, 'cat@example.com'),
    event('b', 4, { email: 'cat@example.com' }),
    event('b', 5, { email: 'nobody@example.com' }),
  ])
  await ingest.shipped()
  // Ben, the last that the server's browser binds, keeps it.
  await mergeAndRefreshPeople(stores, { periodsMax: 2, factsMax: 100 })
  await settlePeople(stores, ingest)
  const hoursLeft = async () => (await timesLeft(workspace)).map((at) => (at + lately - begin) / 3_600_000)
  expect(await eraseBy(workspace, { email: 'ben@example.com' })).toBe(3)
  expect(await hoursLeft()).toEqual([1, 3, 4])
  await mergeParts()
  await expireData(jobContext(stores, Date.now()))
  expect(await nextErasure(stores.pg)).toBeUndefined()
  await settlePeople(stores, ingest)
  expect(await judgeFigures(stores, workspace.workspaceId)).toEqual(exactFigures)
})

test('who paid stays known, though the payment names somebody erased as well', async () => {
  const properties = { user_id: 'u-7' }
  const workspace = await prepare([
    ...anns,
    ...others,
    { ...identify('d', 1, 'old@example.com'), properties },
    { ...identify('d', 2, 'new@example.com'), properties },
    event('x', 1),
  ])
  const { workspaceId } = workspace
  const name = (hours: number, field: string, value: string) =>
    stores.pg.query(`INSERT INTO revenue_payers VALUES ($1, 'custom', 'of email at ' || $2::int, $3, $4, now())`, [
      workspaceId,
      hours,
      field,
      value,
    ])
  await makePayment(workspace, 'email', 'ben@example.com', 31)
  await name(31, 'anonymous_id', 'a')
  await makePayment(workspace, 'email', 'ben@example.com', 32)
  await name(32, 'anonymous_id', 'x')
  await makePayment(workspace, 'email', 'ann@example.com', 33)
  await name(33, 'user_id', 'of nobody')
  await makePayment(workspace, 'user_id', 'u-7', 34)
  // Ann's charge doesn't name her, but her browser. Her customer is Ben's too.
  await stores.pg.query(
    `UPDATE revenue_payments SET refs = refs || CASE payment WHEN 'email at 33' THEN '{of email at 35,of email at 36}'::text[] ELSE '{of email at 36}' END
     WHERE workspace_id = $1 AND payment IN ('email at 31', 'email at 33')`,
    [workspaceId],
  )
  await name(35, 'anonymous_id', 'c')
  await name(36, 'user_id', 'of nobody')
  // Its e-mail is no contact's, and Ben has the browser: his it is.
  await makePayment(workspace, 'email', 'billing@example.com', 37)
  await name(37, 'anonymous_id', 'shared')
  // By then the contacts alone know whose the id is.
  await stores.pg.query('DELETE FROM inbox WHERE workspace_id = $1', [workspaceId])
  const payersLeft = async () => {
    const rows = await stores.pg.query<{ named: string }>(
      `SELECT right(reference, 2) || ' ' || field AS named FROM revenue_payers WHERE workspace_id = $1 ORDER BY 1`,
      [workspaceId],
    )
    return rows.map(({ named }) => named)
  }
  await order(workspace, { email: 'billing@example.com' })
  await order(workspace, { email: 'ann@example.com' })
  expect(await payersLeft()).toEqual([
    '31 email',
    '32 anonymous_id',
    '32 email',
    '34 user_id',
    '36 user_id',
    '37 anonymous_id',
  ])
  await order(workspace, { anonymousId: 'x' })
  await order(workspace, { email: 'old@example.com' })
  expect(await payersLeft()).toEqual(['31 email', '32 email', '34 user_id', '36 user_id', '37 anonymous_id'])
  await order(workspace, { email: 'new@example.com' })
  expect(await payersLeft()).toEqual(['31 email', '32 email', '36 user_id', '37 anonymous_id'])
})

/** Milliseconds from the begin of those below. */
const lately = Math.floor(Date.now() / 60_000) * 60_000 - 3 * 3_600_000
const view = (anonymous_id: string, at: number) =>
  event(anonymous_id, 0, { occurred_at: new Date(lately + at).toISOString() })

async function timesLeft({ workspaceId }: TestWorkspace): Promise<number[]> {
  const rows = await stores.ch.query<{ at: number }>(
    'SELECT toUnixTimestamp64Milli(occurred_at) AS at FROM events WHERE workspace_id = {workspace:UInt32} ORDER BY at',
    { workspace: workspaceId },
  )
  return rows.map(({ at }) => at - lately)
}

test('a person with a thousand binding periods of a shared browser is erased, and nobody else', async () => {
  const workspace = await makeWorkspace(stores)
  const visitor = stores.hashes.visitorOf(workspace.workspaceId, 'shared')
  const { ann } = await bindAlternately(stores.pg, workspace, { visitor, periods: 3_000, from: lately, everyMs: 1_000 })
  // Ann's periods begin at even seconds, Ben's at odd ones.
  await track(ingest, workspace, [
    ...[-1_000, 500, 1_500, 2_000, 2_999, 3_000, 2_998_000, 2_999_000, 3_500_000].map((at) => view('shared', at)),
    view('other', 500),
  ])
  await settlePeople(stores, ingest)
  await eraseBy(workspace, { id: ann })
  expect(await timesLeft(workspace)).toEqual([500, 1_500, 3_000, 2_999_000, 3_500_000])
  // Only this visitor of the hour is derived anew; the other row is the fold's coverage.
  await fold(workOn(stores))
  const written = `SELECT DISTINCT toString(visitor) AS visitor FROM sessions
    WHERE version = (SELECT max(version) FROM sessions) AND workspace_id != 0`
  expect(await stores.ch.query(written)).toEqual([{ visitor }])
  await settlePeople(stores, ingest)
  expect(await judgeFigures(stores, workspace.workspaceId)).toEqual(exactFigures)
})

test('an erasure goes on while figures of people can not be computed', async () => {
  const workspace = await prepare([...anns, ...others])
  await mergeParts()
  await order(workspace, { email: 'ann@example.com' })
  // Ben's figures are to be computed anew.
  await track(ingest, workspace, [event('shared', 46)])
  await ingest.shipped()
  const query = (sql: string, ...more: never[]) =>
    sql.includes('AS lastTouch') ? Promise.reject(new Error('too many events')) : stores.ch.query(sql, ...more)
  const context = jobContext({ ...stores, ch: { ...stores.ch, query } as TestStores['ch'] }, Date.now())
  const failures: unknown[] = []
  const log = { ...context.log, warn: ({ err }: { err: Error }) => failures.push(err.message) }
  for (let round = 0; round < 200 && (await nextErasure(stores.pg)) !== undefined; round++) {
    await sleep(20)
    await foldAll(stores)
    await refreshAndErasePeople({ ...context, log: log as never, work: workOn(context) })
  }
  expect(new Set(failures)).toEqual(new Set(['too many events']))
  expect(await timesLeft(workspace)).toHaveLength(others.length + 1)
})

test('an erasure that fails gives way to the next one, and to that of the command, and says so', async () => {
  const workspace = await makeWorkspace(stores)
  await track(ingest, workspace, [view('a', 1_000), view('b', 2_000), view('c', 3_000)])
  await settlePeople(stores, ingest)
  const browsers = [{ visitor: 'no number', fromAt: 0, fromId: 0, toAt: null, toId: null }]
  const [failing] = await stores.pg.query<{ id: number }>(
    'INSERT INTO erasures (workspace_id, browsers) VALUES ($1, $2) RETURNING id',
    [workspace.workspaceId, JSON.stringify(browsers)],
  )
  await order(workspace, { anonymousId: 'a' })
  const lines: unknown[] = []
  const log = { ...makeLog('test', 'silent'), warn: (fields: object) => lines.push(fields) }
  await expect(erase(log as never)).rejects.toThrow()
  expect(lines).toEqual([{ err: expect.any(Error), erasure: failing!.id }])
  // They take turns.
  const ends = () =>
    erase().then(
      () => true,
      () => false,
    )
  while (!(await ends()));
  expect(await timesLeft(workspace)).toEqual([2_000, 3_000])
  expect(await svc(workspace, '--anonymous-id', 'c')).toMatchObject({ code: 0 })
  expect(await timesLeft(workspace)).toEqual([2_000])
})
