/** `svc events export`: what a workspace stored comes out, and makes the same figures where it is imported. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openSink } from '../../cli/exports/open-sink.ts'
import { mergeInbox } from '../../pipeline/people/merge.ts'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { makeLog } from '../../runtime/log.ts'
import { exportedEventsEach } from '../../schemas/limits/event-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { runSvc, storeSettings, svcOn } from '../support/command-line.ts'
import { foldStored } from '../support/figures.ts'
import { foldAll, workOn } from '../support/fold.ts'
import { onOneDay } from '../support/one-day.ts'
import type { TestStores } from '../support/stores.ts'
import { setUpFolder } from '../support/test-folder.ts'

/** Two installations, each with a secret of its own. */
const [here, elsewhere] = [setUpApi(), setUpApi()]
type Place = typeof here
const folder = setUpFolder()
const now = Date.now()
const day = new Date(now - 3 * dayMs).toISOString().slice(0, 10)
const range = `start=${new Date(now - 12 * dayMs).toISOString()}&end=${day}T23:59:59Z`

async function svc({ stores }: Place, ...words: string[]) {
  const said = await svcOn(stores, ...words)
  if (said.code !== 0) throw new Error(said.err)
  return said.json
}

function importing(place: Place, workspaceId: number, path: string) {
  return svc(place, 'events', 'import', path, '--workspace', String(workspaceId))
}

function exporting(workspaceId: number, ...words: string[]) {
  return svc(here, 'events', 'export', '--workspace', String(workspaceId), ...words)
}

const linesOf = (text: string) => text.split('\n').filter(Boolean)

function write(name: string, events: readonly object[]): string {
  const path = join(folder, name)
  writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  return path
}

/** People and figures as the pipeline makes them. */
async function settle(stores: TestStores): Promise<void> {
  const merging = { pg: stores.pg, hashes: stores.hashes, log: makeLog('test', 'silent'), now }
  while ((await mergeInbox(merging)) > 0);
  await foldStored(stores)
  while (!(await refreshPeople(workOn(stores), 0)));
  await foldAll(stores)
}

interface Answers {
  readonly metrics: Record<string, unknown>
  readonly recent_events: readonly (Record<string, unknown> & { contact_id: number | null })[]
  readonly snippet: object
  readonly conversions: readonly { event: { event_name: string; contact_id: number | null }; credit: object }[]
}

/** The overview and who is credited, without what names the workspace, its rows and the moment. */
async function figuresOf({ stores, api }: Place, apiKey: string) {
  await settle(stores)
  const read = async (path: string) =>
    (await (await api.ask(`/v1/analytics/${path}?${range}`, { key: apiKey })).json()) as Answers
  const { metrics, snippet: _, recent_events, ...lists } = await read('overview')
  const { as_of: __, ...counted } = metrics
  const { conversions } = await read('conversions')
  return {
    ...lists,
    metrics: counted,
    recent: recent_events.map(({ event_name, url, properties, contact_id }) => ({
      event_name,
      url,
      properties,
      isKnown: contact_id !== null,
    })),
    conversions: conversions.map(({ event, credit }) => ({
      event_name: event.event_name,
      isKnown: event.contact_id !== null,
      credit,
    })),
  }
}

const at = (time: string, fields: object) => ({ occurred_at: `${day}T${time}Z`, ...fields })
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const visit = { anonymous_id: 'ada-browser', session_id: 'ada-1', user_agent: agent, ip: '193.0.6.139' }
const ada = { email: 'ada@example.com', full_name: 'Ada Lovelace' }
const unnamed = (ip: string) => ({ user_agent: agent, ip })
const people = [
  at('08:00:00', { event_name: 'pageview', url: 'https://example.com/?utm_source=partner&utm_campaign=may', ...visit }),
  at('08:01:00', {
    event_name: 'identify',
    event_type: 'identify',
    properties: { company: 'Engines' },
    ...ada,
    ...visit,
  }),
  // A server's: without a visitor. Its credit goes to the source of the person's visit.
  at('08:02:00', { event_name: 'order', event_type: 'conversion', email: ada.email, properties: { plan: 'pro' } }),
  // Somebody unknown's, whose e-mail is stored nowhere.
  at('08:03:00', { event_name: 'invoice sent', email: 'nobody@example.com' }),
  // Visitors without an id, one with a path that its URL doesn't have.
  at('09:00:00', {
    event_name: 'pageview',
    path: '/über-uns',
    url: 'https://example.com/about',
    ...unnamed('192.0.2.1'),
  }),
  at('09:01:00', { event_name: 'page_leave', properties: { engagement_ms: 15_000 }, ...unnamed('192.0.2.1') }),
  at('09:00:00', { event_name: 'pageview', url: 'https://example.com/#/app', ...unnamed('192.0.2.2') }),
]

test('exported and imported elsewhere, the overview is the same; imported again, or where it comes from, it changes nothing', async () => {
  await onOneDay()
  // Most of their events have no id of their own.
  const seeded = await svc(here, 'seed', '--events', '1500', '--days', '10')
  const { workspace_id: workspaceId, api_key: apiKey } = seeded.workspaces[0]
  await importing(here, workspaceId, write('people.jsonl', people))
  const before = await figuresOf(here, apiKey)
  expect(before.metrics).toMatchObject({ new_contacts: 1 })
  const credit = expect.objectContaining({ rule: 'touch', source: 'partner' })
  expect(before.conversions).toContainEqual({ event_name: 'order', isKnown: true, credit })

  const out = join(folder, 'all.jsonl.gz')
  const count = 1500 + people.length
  expect(await exporting(workspaceId, '--out', out)).toMatchObject({ events: count, with_email: 2 })
  expect(statSync(out).mode & 0o777).toBe(0o600)
  expect(linesOf(gunzipSync(readFileSync(out)).toString())).toHaveLength(count)

  expect(await importing(here, workspaceId, out)).toMatchObject({ events: count, stored: 0, known_before: count })
  for (const place of [here, elsewhere]) {
    const other = await makeWorkspace(place.stores, {})
    expect(await importing(place, other.workspaceId, out)).toMatchObject({ events: count, stored: count, refused: 0 })
    expect(await figuresOf(place, other.apiKey)).toEqual(before)
    expect(await importing(place, other.workspaceId, out)).toMatchObject({ stored: 0, known_before: count })
  }
  const audited = await listAuditEvents(here.stores.pg, workspaceId, { limit: 10 })
  expect(audited.filter(({ action }) => action === 'events.export')).toHaveLength(1)
})

test('standard output has each event of the range and the workspace that can be read, once, however many one moment has', async () => {
  const { workspaceId } = here.mine
  const many = exportedEventsEach + 50
  const view = (time: string, nth: number) => ({
    event_name: 'pageview',
    anonymous_id: `v${nth % 100}`,
    client_event_id: `e${nth}/${time}`,
    occurred_at: time,
  })
  await importing(
    here,
    workspaceId,
    write('moment.jsonl', [
      // Longer ago than the plan lets it read.
      view(new Date(now - 400 * dayMs).toISOString(), 0),
      view(`${day}T09:59:59.999Z`, 1),
      ...Array.from({ length: many }, (_, nth) => view(`${day}T10:00:00Z`, nth)),
      view(`${day}T11:00:00Z`, 2),
    ]),
  )
  const ask = (...words: string[]) =>
    runSvc(['events', 'export', '--workspace', String(workspaceId), '--json', ...words], storeSettings(here.stores))
  const idsOf = (text: string) => linesOf(text).map((line) => JSON.parse(line).client_event_id as string)

  const moment = await ask('--start', `${day}T10:00:00Z`, '--end', `${day}T11:00:00Z`)
  const ids = idsOf(moment.out)
  expect([ids.length, new Set(ids).size]).toEqual([many, many])
  expect(JSON.parse(linesOf(moment.err).at(-1)!)).toMatchObject({ events: many })
  expect(idsOf((await ask()).out)).toHaveLength(many + 2)
})

test('a file that is there stays, and one that can’t be written leaves nothing behind', async () => {
  const path = write('there.jsonl', [{ mine: true }])
  const refused = (out: string) => svcOn(here.stores, 'events', 'export', '--out', out)
  expect(await refused(path)).toMatchObject({ code: 2, err: expect.stringContaining('already') })
  expect(readFileSync(path, 'utf8')).toBe('{"mine":true}\n')
  const nowhere = join(folder, 'no-such-folder', 'a.jsonl')
  expect(await refused(nowhere)).toMatchObject({ code: 1, err: expect.stringContaining(`${nowhere} can't be written`) })
  expect(existsSync(dirname(nowhere))).toBe(false)
  const below = await refused(join(path, 'a.jsonl'))
  expect(below).toMatchObject({ code: 1, err: expect.stringContaining(`a.jsonl can't be written: ENOTDIR`) })
})

test('of two exports to one file the first that ends has it, whole', async () => {
  const path = join(mkdtempSync(join(folder, 'two-')), 'all.jsonl')
  const [one, other] = [1, 2].map(() => openSink(path, async () => {}))
  for (const part of ['a', 'b']) {
    await one!.write(`1${part}\n`)
    await other!.write(`2${part}, which is longer\n`)
  }
  await one!.close()
  await expect(other!.close()).rejects.toThrow('already')
  await other!.drop()
  expect(readFileSync(path, 'utf8')).toBe('1a\n1b\n')
  expect(readdirSync(dirname(path))).toEqual(['all.jsonl'])
})
