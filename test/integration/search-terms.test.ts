/** Search terms of Google Search Console: connected by a key that was tried, pulled day by day, and summed as Google has them. */
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { googleDispatcher, pullSites } from '../../pipeline/search/pull-sites.ts'
import { leaseSearchSites } from '../../postgres/tables/figures/search-pulls.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeSecretBox, searchKeysPurpose } from '../../runtime/crypto/secret-box.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import {
  searchDaysEach,
  searchEveryMs,
  searchLeaseMs,
  searchPairsKept,
  searchQueriesKept,
  searchRetryFirstMs,
  searchSitesAtOnce,
} from '../../schemas/limits/search-limits.ts'
import { day as dayMs, minute } from '../../schemas/limits/units.ts'
import type { SearchTerms } from '../../schemas/resources/search-terms.ts'
import { setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { jobContext } from '../support/job-context.ts'
import {
  foreignSite,
  googleRefusal,
  type Impressions,
  otherSite,
  ownSite,
  type SearchConsoleServer,
  startSearchConsole,
} from '../support/search-console-server.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, api, mine } = setUpApi()
let google: SearchConsoleServer
const folder = setUpFolder()
let clock: ReturnType<typeof fixedClock>

beforeAll(async () => {
  google = await startSearchConsole()
  writeFileSync(join(folder, 'key.json'), google.keyFile)
})
afterAll(() => google?.close())
/** The date in California when the test began: its clock may pass midnight since. */
let today: string
beforeEach(async () => {
  await stores.pg.query('DELETE FROM search_sites')
  clock = fixedClock(Date.now() + minute)
  google.hinder = () => undefined
  google.asked.length = 0
  today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Los_Angeles' }).format(clock.now())
  Object.assign(google.state, { rows: [], finalThrough: dateBack(3), now: () => clock.now(), isRevoked: false })
})

/** A date of Search Console's, so many days before that of the test's begin. */
function dateBack(days: number): string {
  return new Date(Date.parse(today) - days * dayMs).toISOString().slice(0, 10)
}

const fileOf = (name: string) => join(folder, name)
/** The command has the machine's clock: a slow one may be past ours by then. */
const catchUp = () => clock.set(Math.max(clock.now(), Date.now()))
async function connect(site: string, file = 'key.json') {
  catchUp()
  const words = [`--workspace=${mine.workspaceId}`, '--site', site, '--credentials', fileOf(file)]
  const said = await svcOn(stores, 'search', 'connect', ...words)
  catchUp()
  return said
}
const list = async () => (await svcOn(stores, 'search', 'list', `--workspace=${mine.workspaceId}`)).json
const contextOf = () => ({
  pg: stores.pg,
  ch: stores.ch,
  clock,
  log: makeLog('test', 'silent'),
  dispatcher: undefined,
  box: makeSecretBox(stores.secretKey, searchKeysPurpose),
  metrics: makePipelineMetrics(makeMetrics('test', false)),
})
/** Everything that is due so long from now. */
async function pull(inMs = 0): Promise<void> {
  clock.advance(inMs)
  while (await pullSites(contextOf(), new AbortController().signal));
}
async function read(query = 'days=60'): Promise<SearchTerms> {
  const response = await api.ask(`/v1/analytics/search?${query}`, { key: mine.apiKey })
  expect(response.status).toBe(200)
  return (await response.json()) as SearchTerms
}
const queriesAsked = () => google.asked.filter(({ step }) => step.endsWith('/query')).map(({ json }) => json)

/** The same in each run: figures of a day by the place of their term. */
function rowsOf(date: string, queries: number, pages: number): Impressions[] {
  return Array.from({ length: queries * pages }, (_, at) => {
    const query = at % 5 === 0 ? '' : `term ${at % queries}`
    const clicks = (at * 7 + date.charCodeAt(9)) % 4
    return {
      date,
      query,
      page: `https://example.com/${at % pages}`,
      clicks,
      impressions: clicks + 1 + (at % 3),
      position: 1 + (at % 9) / 2,
    }
  })
}

function sumOf(rows: readonly Impressions[]) {
  const clicks = rows.reduce((sum, row) => sum + row.clicks, 0)
  const impressions = rows.reduce((sum, row) => sum + row.impressions, 0)
  const positions = rows.reduce((sum, row) => sum + row.position * row.impressions, 0)
  const rounded = (value: number) => expect.closeTo(value, 1)
  const [ctr, position] = impressions === 0 ? [0, 0] : [(clicks * 100) / impressions, positions / impressions]
  return { clicks, impressions, ctr: rounded(ctr), position: rounded(position) }
}

/** As the API lists them, of so many rows. */
function listOf(rows: readonly Impressions[], by: 'query' | 'page', limit: number) {
  const keys = [...new Set(rows.map((row) => row[by]))].filter((key) => key !== '')
  return keys
    .map((key) => ({ key, ...sumOf(rows.filter((row) => row[by] === key)) }))
    .sort((a, b) => b.clicks - a.clicks || b.impressions - a.impressions || (a.key < b.key ? -1 : 1))
    .slice(0, limit)
    .map(({ key, ...figures }) => ({ [by]: key, ...figures }))
}

test('a site is connected by a key that may read it, and the key is shown nowhere', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const wrong = { ...JSON.parse(google.keyFile), private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
  writeFileSync(fileOf('wrong.json'), JSON.stringify(wrong))
  writeFileSync(fileOf('none.json'), JSON.stringify({ ...wrong, private_key: 'no key' }))
  const refusals = [
    await connect('example.com'),
    await connect(ownSite, 'none.json'),
    await connect(ownSite, 'missing.json'),
    await connect(ownSite, 'wrong.json'),
    await connect(foreignSite),
  ]
  expect(refusals.map(({ code, err }) => [code, err.trim()])).toEqual([
    [2, expect.stringContaining('--site must be sc-domain:example.com')],
    [1, expect.stringContaining("is not the JSON file of a service account's key")],
    [1, expect.stringContaining("--credentials can't be read")],
    [1, expect.stringContaining('Invalid JWT Signature.')],
    [1, expect.stringContaining(`User does not have sufficient permission for site '${foreignSite}'.`)],
  ])
  expect(await list()).toEqual([])
  expect(await read()).toMatchObject({ state: 'not_connected', data_through: null, sites: [], queries: [], pages: [] })

  const connected = await connect(ownSite.toUpperCase().replace('SC-DOMAIN', 'sc-domain'))
  expect([connected.code, connected.err]).toEqual([0, ''])
  expect(connected.json).toMatchObject({ site: ownSite, state: 'loading', data_through: null, last_error: null })
  const overlapping = await connect('https://www.example.com/blog')
  expect([overlapping.code, overlapping.err]).toEqual([1, expect.stringContaining('they would count twice')])
  const [stored] = await stores.pg.query<{ sealed: Buffer }>('SELECT sealed FROM search_sites')
  const audit = (await (await api.ask('/v1/audit-log', { key: mine.apiKey })).json()) as object[]
  expect(audit[0]).toMatchObject({ action: 'search_site.connect', metadata: { site: ownSite, is_renewed: false } })
  const shown = JSON.stringify([refusals, connected, await list(), audit, stored!.sealed.toString('latin1')])
  const [secret] = JSON.stringify(google.privateKey.split('\n')[1]).slice(1, 60).split('"')
  expect([shown.includes(secret!), shown.includes('PRIVATE KEY')]).toEqual([false, false])
  // Where private targets aren't allowed, nothing reaches this machine.
  const guarded = request(google.url, { dispatcher: googleDispatcher(false)! })
  await expect(guarded).rejects.toThrow('The host has no public address')
})

test('figures are the sums of what Google has, of all days, one query or one page, and a changed day is replaced whole', async () => {
  google.state.rows = [3, 4, 5, 20, 40, 63, 64].flatMap((back) => rowsOf(dateBack(back), 30, 7))
  // Not final: it is no day yet.
  google.state.rows.push(...rowsOf(dateBack(1), 3, 3))
  await connect(ownSite)
  await pull()
  const compare = async () => {
    const inRange = google.state.rows.filter(({ date }) => date <= dateBack(3) && date >= dateBack(59))
    const limit = 12
    const chosen = [{}, { query: 'term 3' }, { page: 'https://example.com/2' }]
    for (const filter of [...chosen, { query: 'term 3', page: 'https://example.com/3' }, { query: 'no such term' }]) {
      const rows = inRange.filter((row) =>
        Object.entries(filter).every(([name, value]) => row[name as 'query'] === value),
      )
      const parameters = new URLSearchParams({ days: '60', limit: String(limit), ...filter })
      const { totals, queries, pages, ...others } = await read(String(parameters))
      expect([filter, totals]).toEqual([filter, sumOf(rows)])
      expect([filter, queries]).toEqual([filter, listOf(rows, 'query', limit)])
      expect([filter, pages]).toEqual([filter, listOf(rows, 'page', limit)])
      expect(others).toMatchObject({ state: 'active', data_through: dateBack(3), lists_cut: false })
    }
  }
  await compare()
  // The period before lacks its last days as the range does, so it is 5 days until the 5th day before the range's.
  const before = google.state.rows.filter(({ date }) => date >= dateBack(119) && date <= dateBack(63))
  expect((await read()).previous).toEqual(sumOf(before))
  expect((await read('days=60&compare=none')).previous).toBeNull()
  expect((await read('days=2')).previous).toBeNull()
  expect((await read(`start=${dateBack(20)}&end=${dateBack(20)}`)).totals).toEqual(
    sumOf(google.state.rows.filter(({ date }) => date === dateBack(20))),
  )
  // ClickHouse's days have 16 bits.
  const wrapped = [20, 3].map((back) => dateBack(back - 65_536))
  expect((await read(`start=${wrapped[0]}&end=${wrapped[1]}`)).totals).toEqual(sumOf([]))

  google.asked.length = 0
  google.state.rows = google.state.rows.filter(({ date, query }) => date !== dateBack(4) || query === 'term 7')
  google.state.rows = google.state.rows.filter(({ date }) => date !== dateBack(20))
  await pull(searchEveryMs)
  clock.advance(-searchEveryMs)
  // The days' totals, and the lists of the one that changed; of the one that is gone there is nothing to ask.
  expect(queriesAsked().map(({ dimensions }) => dimensions)).toEqual([['date'], ['query'], ['page'], ['query', 'page']])
  await compare()
})

test('a day that was stored by a clock that ran ahead is replaced once it is right', async () => {
  google.state.rows = rowsOf(dateBack(3), 4, 2)
  await connect(ownSite)
  await pull(30 * dayMs)
  clock.advance(-30 * dayMs)
  google.state.rows = rowsOf(dateBack(3), 5, 2)
  await pull()
  expect((await read()).totals).toEqual(sumOf(google.state.rows))
})

test('a long first pull goes on in turns, and of a day with very many rows the top ones are kept', async () => {
  const old = Array.from({ length: searchDaysEach + 5 }, (_, at) => rowsOf(dateBack(at + 4), 2, 1)).flat()
  const many = Array.from({ length: 25_010 }, (_, at) => ({
    date: dateBack(3),
    query: `term ${at}`,
    page: 'https://example.com/',
    clicks: at < 10 ? 1 : 0,
    impressions: at + 1,
    position: 5,
  }))
  google.state.rows = [...old, ...many]
  await connect(ownSite)
  const { signal } = new AbortController()
  expect(await pullSites(contextOf(), signal)).toBe(true)
  const firstTurn = await read('days=40')
  expect(firstTurn.sites.map(({ last_error }) => last_error)).toEqual([null])
  expect(firstTurn).toMatchObject({ state: 'loading', data_through: dateBack(3), lists_cut: true })
  // Only a part of the period before is there yet.
  expect(firstTurn.previous).toBeNull()
  await pull()
  // An answer is shared for a moment.
  await expect.poll(async () => (await read('days=40')).previous).not.toBeNull()
  expect(queriesAsked().filter(({ startRow }) => startRow === 25_000)).toHaveLength(2)
  const { state, totals, queries } = await read(`start=${dateBack(3)}&end=${dateBack(3)}&limit=1000`)
  expect([state, totals]).toEqual(['active', sumOf(many)])
  // By clicks, then by impressions, though Google has those without a click in any order.
  expect([queries[0]!.query, queries[10]!.query, queries[999]!.query]).toEqual(['term 9', 'term 25009', 'term 24020'])
  const kept = await stores.ch.query<{ kind: string; terms: number }>(
    `SELECT kind, length(seen.query) AS terms FROM search_days FINAL
     WHERE workspace_id = ${mine.workspaceId} AND is_cut ORDER BY kind`,
  )
  expect(kept).toEqual([
    { kind: 'query', terms: searchQueriesKept },
    { kind: 'pair', terms: searchPairsKept },
  ])
})

test('a limit or a fault is waited for, longer each time; a key that is refused waits for a new one', async () => {
  google.state.rows = rowsOf(dateBack(3), 4, 2)
  await connect(ownSite)
  const isQuery = ({ step }: { step: string }) => step.endsWith('/query')
  const faults = [
    googleRefusal(429, 'rateLimitExceeded', 'Quota exceeded.'),
    googleRefusal(403, 'quotaExceeded', 'Search Analytics load quota exceeded.'),
    googleRefusal(503, 'backendError', 'Backend Error'),
    { status: 403, body: '<html>a proxy</html>' },
  ]
  for (const [failures, fault] of faults.entries()) {
    google.hinder = (asking) => (isQuery(asking) ? fault : undefined)
    google.asked.length = 0
    await pull(searchRetryFirstMs * 2 ** failures)
    expect(queriesAsked()).toHaveLength(1)
    // Not sooner than the delay, which doubles.
    await pull(searchRetryFirstMs * 2 ** failures - minute)
    expect(queriesAsked()).toHaveLength(1)
    const [site] = await list()
    expect(site).toMatchObject({ state: 'loading', last_error: expect.stringContaining(`${fault.status}`) })
  }
  google.hinder = () => undefined
  await pull(searchRetryFirstMs * 2 ** faults.length)
  expect(await list()).toMatchObject([{ state: 'active', last_error: null, data_through: dateBack(3) }])

  const date = new Date(Date.now() - 3_600_000).toUTCString()
  const untimely = { error: 'invalid_grant', error_description: 'Invalid JWT: Check your iat and exp values.' }
  google.hinder = ({ step }) =>
    step === 'POST /token' ? { status: 400, headers: { date }, body: untimely } : undefined
  await pull(searchEveryMs)
  expect(await list()).toMatchObject([{ state: 'active', last_error: expect.stringContaining('Invalid JWT') }])
  google.hinder = () => undefined

  google.state.isRevoked = true
  await pull(searchEveryMs)
  expect(await read()).toMatchObject({
    state: 'needs_reconnecting',
    sites: [
      { site: ownSite, state: 'needs_reconnecting', last_error: expect.stringContaining('Invalid JWT Signature.') },
    ],
  })
  google.asked.length = 0
  await pull(10 * dayMs)
  expect(google.asked).toEqual([])

  google.state.isRevoked = false
  clock.set(Date.now() + minute)
  await connect(ownSite)
  await pull()
  expect(await list()).toMatchObject([{ state: 'active', last_error: null }])
  for (const refusal of [
    googleRefusal(403, 'forbidden', 'User does not have sufficient permission.'),
    googleRefusal(403, 'accessNotConfigured', 'Search Console API has not been used in project 7.'),
    googleRefusal(401, 'authError', 'Invalid Credentials'),
  ]) {
    clock.set(Date.now() + minute)
    await connect(ownSite)
    google.hinder = (asking) => (isQuery(asking) ? refusal : undefined)
    await pull(minute)
    expect((await list())[0].state).toBe('needs_reconnecting')
    google.hinder = () => undefined
  }
})

test('an answer that Google never gives, and a key of another SECRET_KEY, are told and change no day', async () => {
  const before = await stores.ch.query('SELECT count() FROM search_days')
  for (const [date, position] of [
    ['9999-12-31', '1'],
    [dateBack(3), '1e999'],
  ]) {
    const body = `{"rows":[{"keys":["${date}"],"clicks":1,"impressions":1,"position":${position}}]}`
    google.hinder = ({ json }) => (json?.dimensions?.[0] === 'date' ? { status: 200, body } : undefined)
    clock.set(Date.now() + minute)
    await connect(ownSite)
    await pull()
    const last_error = expect.stringContaining("Google's answer")
    expect(await list()).toMatchObject([{ state: 'loading', data_through: null, last_error }])
  }
  google.hinder = () => undefined
  await connect(ownSite)
  const { signal } = new AbortController()
  await pullSites({ ...contextOf(), box: makeSecretBox('another key', searchKeysPurpose) }, signal)
  expect(await list()).toMatchObject([{ state: 'loading', last_error: expect.stringContaining('SECRET_KEY') }])
  expect(await stores.ch.query('SELECT count() FROM search_days')).toEqual(before)
})

test('several pipelines take each site once, and one that stopped or died is followed by another', async () => {
  google.state.rows = rowsOf(dateBack(3), 4, 2)
  for (const site of [ownSite, otherSite]) await connect(site)
  google.asked.length = 0
  const { signal } = new AbortController()
  await Promise.all([1, 2, 3].map(() => pullSites(contextOf(), signal)))
  expect(google.asked.filter(({ step }) => step === 'POST /token')).toHaveLength(2)
  // Both sites have the same rows here.
  expect((await read()).totals).toEqual(sumOf([...google.state.rows, ...google.state.rows]))

  clock.advance(searchEveryMs)
  const stopping = new AbortController()
  google.hinder = () => {
    stopping.abort()
    return 'hang before'
  }
  await pullSites(contextOf(), stopping.signal)
  google.hinder = () => undefined
  // The next one takes them at once, and is killed.
  const now = clock.now()
  const lease = { now: new Date(now), until: new Date(now + searchLeaseMs), max: searchSitesAtOnce }
  expect(await leaseSearchSites(stores.pg, lease)).toHaveLength(2)
  google.asked.length = 0
  await pull(searchLeaseMs - minute)
  expect(queriesAsked()).toEqual([])
  await pull(2 * minute)
  expect(queriesAsked()).toHaveLength(2)
})

test('days past the plan are neither pulled nor kept, and nothing stays of a site that is disconnected', async () => {
  const [young, old] = [dateBack(3), dateBack(170)]
  google.state.rows = [...rowsOf(young, 4, 2), ...rowsOf(old, 4, 2), ...rowsOf(dateBack(181), 4, 2)]
  await connect(ownSite)
  await pull()
  const stored = async () =>
    (
      await stores.ch.query<{ date: string }>(
        `SELECT toString(toDate(day)) AS date FROM search_days FINAL
         WHERE workspace_id = ${mine.workspaceId} AND kind = 'total' ORDER BY day`,
      )
    ).map(({ date }) => date)
  expect(await stored()).toEqual([old, young])
  await stores.pg.query('UPDATE workspaces SET retention_days = 90 WHERE id = $1', [mine.workspaceId])
  expect((await read('days=180')).totals).toEqual(sumOf(google.state.rows.filter(({ date }) => date === young)))
  await expireData(jobContext(stores, Date.now()))
  expect(await stored()).toEqual([young])

  const [{ site_id }] = await list()
  expect((await svcOn(stores, 'search', 'disconnect', String(site_id))).code).toBe(0)
  expect((await svcOn(stores, 'search', 'disconnect', String(site_id))).code).toBe(1)
  expect(await read()).toMatchObject({ state: 'not_connected', totals: { clicks: 0, impressions: 0 }, queries: [] })
  await expireData(jobContext(stores, Date.now()))
  expect(await stored()).toEqual([])
})
