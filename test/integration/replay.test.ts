import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { noCountry } from '../../schemas/event/row.ts'
import { isBotAgent } from '../../schemas/reference/bots.ts'
import { freePort } from '../../start/stores/store.ts'
import {
  type LoggedPage,
  type LoggedSession,
  logNames,
  openLog,
  pagesOf,
  sessionsOf,
  sourceOf,
  writeMadeLog,
} from '../support/access-log.ts'
import { makeWorkspace, startApi, type TestApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { foldStored } from '../support/figures.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { makeLink, makePost } from '../support/publishing.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let api: TestApi
let ingest: TestIngest | undefined
let port: number
let trackingUrl: string
const made = writeMadeLog()
const log = made.path
const pages = pagesOf(made)
const isOfPeople = ({ agent }: LoggedPage) => !isBotAgent(agent)
const people = pages.filter(isOfPeople)
const sessions = sessionsOf(people)

beforeAll(async () => {
  ;[api, port] = await Promise.all([startApi(stores), freePort()])
  trackingUrl = `http://127.0.0.1:${port}/api/v1/growth`
  await start()
})
afterAll(async () => {
  await ingest?.stop()
  await api?.close()
  made.remove()
})

let workspace: { workspace_id: number; tracking_key: string; api_key: string }
beforeEach(async () => {
  workspace = (await svc('workspace', 'create', '--name', 'Replayed')).json()
})

/** On a port of its own, so that a replay finds it again after a kill. */
async function start(): Promise<void> {
  ingest = await startIngest(stores, { PORT: String(port), LOG_LEVEL: 'error' }, ingest)
}

async function svc(...words: string[]) {
  const { code, err, json } = await svcOn(stores, ...words)
  return { code, err, json: () => (code === 0 ? json : expect.fail(`exit code ${code}: ${err}`)) }
}

const replay = (path: string, ...options: string[]) =>
  svc('replay', path, '--tracking-url', trackingUrl, '--tracking-key', workspace.tracking_key, ...options)

/** Rows stored for the workspace, once all that ingest has acknowledged is. */
async function stored(): Promise<{ people: number; bots: number }> {
  await ingest!.shipped()
  const count = async (table: string) => {
    const [row] = await stores.ch.query<{ rows: number }>(
      'SELECT count() AS rows FROM {table:Identifier} WHERE workspace_id = {id:UInt32}',
      { table, id: workspace.workspace_id },
    )
    return row!.rows
  }
  return { people: await count('events'), bots: await count('bot_visits') }
}

const allRows = { people: people.length, bots: pages.length - people.length }

describe('a log that is shifted to now', () => {
  test.for(logNames)(
    'has in the overview the visitors, pageviews, sessions, pages and sources of %s',
    async (name, context) => {
      const log = openLog(name, context)
      const pages = pagesOf(log)
      const people = pages.filter(isOfPeople)
      const sessions = sessionsOf(people)
      const allRows = { people: people.length, bots: pages.length - people.length }
      const summary = (await replay(log.path, '--shift-to-now')).json()
      expect(summary).toMatchObject({
        lines: log.lines.length,
        odd_lines: 1,
        site: log.site,
        pageviews: people.length,
        bots: allRows.bots,
        visitors: new Set(sessions.map(({ visitor }) => visitor)).size,
        sessions: sessions.length,
        sent: pages.length,
        accepted: pages.length,
        deduplicated: 0,
        rejected: 0,
      })
      expect(await stored()).toEqual(allRows)

      await foldStored(stores)
      const response = await api.ask('/v1/analytics/overview?hours=49', { key: workspace.api_key })
      expect(response.status).toBe(200)
      const overview = (await response.json()) as Record<'metrics' | 'top_pages' | 'top_sources', object>
      expect(overview.metrics).toMatchObject({
        visitors: new Set(sessions.map(({ visitor }) => visitor)).size,
        pageviews: people.length,
        sessions: sessions.length,
        events: people.length,
        bot_visits: allRows.bots,
      })
      expect(overview.top_pages).toMatchObject(topPages(people).slice(0, 10))
      expect(overview.top_sources).toMatchObject(topSources(sessions, log.site).slice(0, 10))
    },
  )

  test('is counted once when it is replayed again to the same moment', async () => {
    const moment = new Date().toISOString()
    const first = (await replay(log, '--shift-to', moment)).json()
    expect(first).toMatchObject({ accepted: pages.length, deduplicated: 0, last_occurred_at: moment })
    expect((await replay(log, '--shift-to', moment)).json()).toMatchObject({
      accepted: pages.length,
      deduplicated: pages.length,
    })
    expect(await stored()).toEqual(allRows)
  })

  test('is whole and counted once when ingest is killed under it and started again', async () => {
    // The log's three and a half days in some five seconds.
    const replaying = replay(log, '--shift-to-now', '--speed', '60000')
    const first = 'SELECT 1 FROM events WHERE workspace_id = {id:UInt32} LIMIT 1'
    await expect.poll(() => stores.ch.query(first, { id: workspace.workspace_id })).toHaveLength(1)
    await ingest?.stop('SIGKILL')
    await delay(500)
    await start()
    const summary = (await replaying).json()
    expect(summary.accepted).toBe(pages.length)
    expect(summary.retries).toBeGreaterThan(0)
    expect(await stored()).toEqual(allRows)
  })
})

test('old times are refused by the public interface, and nothing is sent', async () => {
  expect(await replay(log)).toMatchObject({ code: 1, err: expect.stringContaining('--shift-to-now') })
  expect(await stored()).toEqual({ people: 0, bots: 0 })
})

test('old times are imported as they are, and a second import changes nothing', async () => {
  const importing = () => svc('replay', log, '--import', '--workspace', String(workspace.workspace_id))
  const first = (await importing()).json()
  expect(first).toMatchObject({ accepted: pages.length, deduplicated: 0, rejected: 0 })
  expect((await importing()).json()).toMatchObject({
    accepted: pages.length,
    deduplicated: pages.length,
  })
  expect(await stored()).toEqual(allRows)
  const [facts] = await stores.ch.query(
    `SELECT toString(min(occurred_at)) AS first, uniqExact(visitor) AS visitors, uniqExact(session) AS sessions,
            uniqExact(id) AS ids
     FROM events WHERE workspace_id = {id:UInt32}`,
    { id: workspace.workspace_id },
  )
  expect(facts).toEqual({
    first: new Date(people[0]!.time).toISOString().replace('T', ' ').replace('Z', ''),
    visitors: new Set(sessions.map(({ visitor }) => visitor)).size,
    sessions: sessions.length,
    ids: people.length,
  })
})

test('an imported row has the country of its address, and the link and post of its URL where they are the workspace’s', async () => {
  const { workspace_id: workspaceId } = workspace
  const neighbour = await makeWorkspace(stores)
  const [post, theirPost] = [await makePost(stores, workspaceId), await makePost(stores, neighbour.workspaceId)]
  const link = await makeLink(stores, workspaceId, post)
  const theirs = await makeLink(stores, neighbour.workspaceId, theirPost)
  const line = (address: string, path: string) =>
    `${address} - - [17/May/2015:10:05:03 +0000] "GET ${path} HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; Linux x86_64) Firefox/38.0"\n`
  const lines = [
    line('193.0.6.139', `/dutch?svc_link_id=${link.id}`),
    line('2003::1', `/german?svc_post_id=${post}`),
    line('10.0.0.1', `/unknown?svc_link_id=${theirs.id}&svc_post_id=${theirPost}`),
  ]
  const file = join(stores.dataDir, 'odd.log')
  await writeFile(file, lines.join(''))
  expect((await svc('replay', file, '--import', '--workspace', String(workspaceId))).code).toBe(0)
  const rows = await stores.ch.query(
    'SELECT path, country, link_id, post_id FROM events WHERE workspace_id = {workspaceId:UInt32} ORDER BY path',
    { workspaceId },
  )
  expect(rows).toEqual([
    { path: '/dutch', country: 'NL', link_id: link.id, post_id: post },
    { path: '/german', country: 'DE', link_id: 0, post_id: post },
    { path: '/unknown', country: noCountry, link_id: 0, post_id: 0 },
  ])
})

test('options that would do nothing are refused', async () => {
  const key = ['--tracking-key', workspace.tracking_key]
  for (const words of [
    ['--import', ...key],
    ['--import', '--tracking-url', trackingUrl],
    [...key, '--workspace', '1'],
  ])
    expect((await svc('replay', log, ...words)).code, words.join(' ')).toBe(2)
})

test('a key that is unknown ends the replay with what ingest said', async () => {
  const unknown = `svc_pk_${'a'.repeat(24)}`
  const result = await svc('replay', log, '--shift-to-now', '--tracking-url', trackingUrl, '--tracking-key', unknown)
  expect(result).toMatchObject({ code: 1, err: expect.stringContaining('Unknown tracking key') })
})

function groupBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(nameOf(item), [...(groups.get(nameOf(item)) ?? []), item])
  return groups
}

function topPages(pages: readonly LoggedPage[]) {
  return [...groupBy(pages, ({ path }) => path)]
    .map(([path, views]) => {
      const visitors = new Set(views.map(({ address, agent }) => `${address} ${agent}`)).size
      return { path, pageviews: views.length, visitors }
    })
    .sort((a, b) => b.pageviews - a.pageviews || (a.path < b.path ? -1 : 1))
}

function topSources(all: readonly LoggedSession[], site: string) {
  const bySource = groupBy(all, ({ pages }) => sourceOf(pages[0]!, site))
  return [...bySource]
    .map(([name, those]) => ({
      source: name.split(' / ')[0]!,
      medium: name.split(' / ')[1]!,
      visitors: new Set(those.map(({ visitor }) => visitor)).size,
      sessions: those.length,
      pageviews: those.reduce((sum, { pages }) => sum + pages.length, 0),
    }))
    .sort((a, b) => b.visitors - a.visitors || (a.source < b.source ? -1 : 1))
}
