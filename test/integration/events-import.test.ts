/** `svc events import`: history comes in with its own times, once, whatever is wrong in a file or happens to a run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { importedLineBytesMax } from '../../schemas/limits/event-limits.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { setUpApi } from '../support/api.ts'
import { storeSettings, svcOn } from '../support/command-line.ts'
import { foldStored } from '../support/figures.ts'
import { compiledService } from '../support/service-process.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, api, mine } = setUpApi()
const folder = setUpFolder()
const day = new Date(Date.now() - 40 * dayMs).toISOString().slice(0, 10)

function write(name: string, lines: readonly (string | object)[]): string {
  const path = join(folder, name)
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text)
  return path
}

async function importing(...words: string[]) {
  const said = await svcOn(stores, 'events', 'import', ...words, '--workspace', String(mine.workspaceId))
  if (said.code !== 0) throw new Error(said.err)
  return said.json
}

function rows<Row>(columns: string): Promise<Row[]> {
  const sql = `SELECT ${columns} FROM events WHERE workspace_id = {id:UInt32}`
  return stores.ch.query<Row>(sql, { id: mine.workspaceId })
}

const inbox = () =>
  stores.pg.query<{ event_id: number }>('SELECT event_id FROM inbox WHERE workspace_id = $1', [mine.workspaceId])

const view = (visitor: string, time: string, fields: object = {}) => ({
  event_name: 'pageview',
  anonymous_id: visitor,
  session_id: `${visitor}-s`,
  url: 'https://example.com/pricing',
  occurred_at: `${day}T${time}Z`,
  ...fields,
})

test('events of an old day are in the figures of that day; wrong lines are named, and the same file again changes nothing', async () => {
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const berlin = { visitor: { country: 'de', region: 'BE', city: 'Berlin' } }
  const path = write('history.jsonl.gz', [
    view('a', '12:00:00', { referrer: 'https://www.google.com/', user_agent: agent, ip: '193.0.6.139' }),
    view('b', '09:00:00', { client_event_id: 'b-1', sent_at: '2020-01-01T00:00:00Z', ...berlin }),
    '',
    '{"event_name": "pageview"',
    { event_name: 'pageview', anonymous_id: 'c' },
    view('c', '10:00:00', { occurred_at: new Date(Date.now() + dayMs).toISOString() }),
    view('c', '10:00:00', { value_cents: 1 }),
    view('c', '10:00:00', { visitor: { device: 'fridge' } }),
    view('c', '10:00:00', { is_server_event: true }),
    `{"event_name": "${'x'.repeat(importedLineBytesMax)}"}`,
    view('b', '09:00:00', { client_event_id: 'b-1' }),
    view('a', '12:05:00', { event_type: 'conversion', event_name: 'signup', email: 'ada@example.com' }),
  ])
  expect(await importing(path, '--dry-run')).toMatchObject({ dry_run: true, events: 4, stored: 0, refused: 7 })
  expect(await rows('id')).toEqual([])

  const refusal = (reason: string, line: number) => ({ reason, count: 1, first: [`${path}:${line}`] })
  expect(await importing(path)).toMatchObject({
    lines: 11,
    events: 4,
    stored: 3,
    known_before: 1,
    refused: 7,
    left_out: 0,
    refused_by: [
      refusal('the line is no valid JSON', 4),
      refusal('occurred_at: Field required', 5),
      refusal('occurred_at: later than now', 6),
      refusal('value_cents: Extra inputs are not permitted', 7),
      refusal('visitor: device is none of unknown, desktop, mobile, tablet, other', 8),
      refusal('is_server_event: such an event has no anonymous_id', 9),
      refusal(`the line is longer than ${importedLineBytesMax} bytes`, 10),
    ],
    first_occurred_at: `${day}T09:00:00.000Z`,
    last_occurred_at: `${day}T12:05:00.000Z`,
  })
  const figures = async () => {
    await foldStored(stores)
    const query = `start=${day}T00:00:00Z&end=${day}T23:59:59Z`
    const response = await api.ask(`/v1/analytics/overview?${query}`, { key: mine.apiKey })
    const { metrics, top_sources, devices } = (await response.json()) as Record<string, object>
    return { metrics, top_sources, devices }
  }
  const before = await figures()
  expect(before.metrics).toMatchObject({ visitors: 2, sessions: 2, pageviews: 2, conversions: 1, new_contacts: 1 })
  expect(before.top_sources).toMatchObject([{ source: 'google', medium: 'organic' }, { source: 'direct' }])
  expect(await rows('browser, country, region, city, event_name')).toEqual(
    expect.arrayContaining([
      { browser: 'Firefox', country: 'NL', region: '', city: '', event_name: 'pageview' },
      { browser: '', country: 'DE', region: 'DE-BE', city: 'Berlin', event_name: 'pageview' },
    ]),
  )
  expect(await importing(path)).toMatchObject({ stored: 0, known_before: 4 })
  const { metrics, ...lists } = await figures()
  expect(lists).toEqual({ top_sources: before.top_sources, devices: before.devices })
  expect(metrics).toMatchObject({ visitors: 2, sessions: 2, pageviews: 2, conversions: 1, new_contacts: 1 })
  expect(await inbox()).toHaveLength(1)
  const audited = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 10 })
  expect(audited.filter(({ action }) => action === 'events.import')).toHaveLength(2)
})

test('the last line of its progress has the events of the summary, of all files', async () => {
  const lines = Array.from({ length: 3_000 }, (_, at) => view(`p${at}`, '10:00:00', { client_event_id: `p${at}` }))
  const files = [write('first.ndjson', lines), write('second.ndjson.gz', [view('last', '11:00:00'), 'no event', ''])]
  const words = ['events', 'import', ...files, '--workspace', String(mine.workspaceId)]
  for (const more of [['--dry-run'], []]) {
    const { err, json } = await svcOn(stores, ...words, ...more)
    expect([err.trim().split('\n').at(-1), json.events]).toEqual(['file 2 of 2: 100 % read; 3001 events in all', 3001])
  }
})

test('an import that is killed and repeated stores each event and each person once', async () => {
  const lines = Array.from({ length: 25_000 }, (_, at) => ({
    ...view(`v${at % 500}`, '10:00:00', { client_event_id: `e${at}` }),
    // In no order, over half a year.
    occurred_at: new Date(Date.now() - ((at * 7919) % 180) * dayMs - at).toISOString(),
    ...(at % 10 === 0 && { event_type: 'identify', event_name: 'identify', email: `p${at}@example.com` }),
  }))
  const path = write('long.ndjson', lines)
  const child = spawn(
    process.execPath,
    [await compiledService('cli/svc.ts'), 'events', 'import', path, '--workspace', String(mine.workspaceId)],
    { stdio: 'ignore', env: { ...storeSettings(stores), DATA_DIR: stores.dataDir } },
  )
  const exited = once(child, 'exit')
  while ((await rows<{ count: number }>('count() AS count'))[0]!.count === 0 && child.exitCode === null) await delay(5)
  child.kill('SIGKILL')
  // Where ClickHouse was slow to tell of the first rows, it had come to its end.
  expect([
    [null, 'SIGKILL'],
    [0, null],
  ]).toContainEqual(await exited)
  // In other inserts than before.
  const again = write('again.ndjson', lines.toReversed())
  expect(await importing(again)).toMatchObject({ lines: lines.length, events: lines.length, refused: 0 })
  const stored = await rows<{ id: number; client_event_id: string; kind: string }>('id, client_event_id, kind')
  expect(stored).toHaveLength(lines.length)
  expect(new Set(stored.map(({ client_event_id }) => client_event_id)).size).toBe(lines.length)
  const identified = stored.filter(({ kind }) => kind === 'identify').map(({ id }) => id)
  const people = new Set((await inbox()).map(({ event_id }) => event_id))
  expect([people.size, identified.every((id) => people.has(id))]).toEqual([lines.length / 10, true])
})

test('rows of other products have what these knew of the visitor; of Umami’s table one website is imported', async () => {
  const umami = write('website_event.csv', [
    'website_id,session_id,visit_id,event_id,hostname,browser,os,device,country,region,city,url_path,referrer_domain,event_type,created_at',
    `w1,s1,v1,e1,example.com,edge-chromium,Windows 10,laptop,de,DE-BE,Berlin,/a,,1,${day} 10:00:00.123+00`,
    `w1,s1,v1,e2,example.com,edge-chromium,Windows 10,laptop,DE,AT-9,Vienna,/b,example.com,1,${day} 10:01:00`,
    `w2,s9,v9,e9,example.org,chrome,Linux,desktop,FR,,,/z,,1,${day} 10:00:00`,
    'w1,s1',
    `w1,s1,v1,e3,example.com,edge-chromium,Windows 10,laptop,DE,,\\N,/a"b,,1,${day} 10:02:00`,
  ])
  const posthog = write('posthog.jsonl', [
    {
      uuid: 'u1',
      event: '$pageview',
      distinct_id: 'd1',
      timestamp: `${day}T11:00:00.000000+00:00`,
      properties: {
        $current_url: 'https://example.com/c',
        $browser: 'Mobile Safari',
        $os: 'iOS',
        $device_type: 'Mobile',
        $geoip_country_code: 'NL',
        $geoip_subdivision_1_code: 'NH',
        $geoip_subdivision_1_name: 'North Holland',
        $geoip_city_name: 'Amsterdam',
      },
    },
    { uuid: 'u2', event: '$feature_flag_called', distinct_id: 'd1', timestamp: `${day}T11:00:01Z`, properties: {} },
  ])
  expect(await importing(umami, '--from', 'umami')).toMatchObject({
    lines: 5,
    stored: 3,
    refused_by: [
      { reason: 'website_id: not w1, as the first line has', first: [`${umami}:4`] },
      { reason: 'the line has another number of cells than the first one', first: [`${umami}:5`] },
    ],
  })
  expect(await importing(posthog, '--from', 'posthog')).toMatchObject({
    stored: 1,
    refused: 0,
    left_out_by: [{ reason: '$feature_flag_called', count: 1, first: [`${posthog}:2`] }],
  })
  const columns =
    'client_event_id AS id, path, source, browser, os, device, country, region, city, toString(occurred_at) AS at'
  const made = (await rows<{ id: string }>(columns)).sort((a, b) => (a.id < b.id ? -1 : 1))
  const desktop = {
    source: 'direct',
    browser: 'Edge',
    os: 'Windows',
    device: 'desktop',
    country: 'DE',
    region: '',
    city: '',
  }
  expect(made).toEqual([
    {
      id: 'posthog-u1',
      path: '/c',
      source: 'direct',
      browser: 'Safari',
      os: 'iOS',
      device: 'mobile',
      country: 'NL',
      region: 'NL-NH',
      city: 'Amsterdam',
      at: `${day} 11:00:00.000`,
    },
    { id: 'umami-e1', path: '/a', ...desktop, region: 'DE-BE', city: 'Berlin', at: `${day} 10:00:00.123` },
    { id: 'umami-e2', path: '/b', ...desktop, at: `${day} 10:01:00.000` },
    { id: 'umami-e3', path: '/a"b', ...desktop, at: `${day} 10:02:00.000` },
  ])
})

test('events of Umami have their properties from its table event_data, and its wrong lines are named', async () => {
  const events = write('events.csv', [
    'website_id,session_id,visit_id,event_id,hostname,url_path,event_type,event_name,tag,created_at',
    `w1,s1,v1,e1,example.com,/,2,signup,spring,${day} 10:00:00`,
    `w1,s1,v1,e2,example.com,/,2,search,,${day} 10:01:00`,
  ])
  // By Postgres and by Umami Cloud the event's id is called differently.
  const data = write('event_data.csv', [
    'event_data_id,website_id,website_event_id,data_key,string_value,number_value,date_value,data_type,created_at',
    `d1,w1,e1,plan,growth,,,1,${day} 10:00:00`,
    `d2,w1,e1,seats,12.0000,12.0000,,2,${day} 10:00:00`,
    `d3,w1,e1,is.trial,true,,,3,${day} 10:00:00`,
    `d4,w1,e1,since,,,2026-01-02 03:04:05+00,4,${day} 10:00:00`,
    `d5,w1,e1,tags,"[""a"",""b""]",,,5,${day} 10:00:00`,
    `d6,w1,,lost,x,,,1,${day} 10:00:00`,
    `d7,w1,e1,odd,many,,,2,${day} 10:00:00`,
    `d8,w1,e9,of no event here,x,,,1,${day} 10:00:00`,
  ])
  expect(await importing(events, '--from', 'umami', '--event-data', data)).toMatchObject({
    lines: 10,
    events: 2,
    stored: 2,
    refused: 2,
    refused_by: [
      { reason: 'event_id: Field required', first: [`${data}:7`] },
      { reason: 'data_type: no value of the type 2', first: [`${data}:8`] },
    ],
  })
  const made = await rows<{ event_name: string; properties: string }>('event_name, properties')
  expect(
    Object.fromEntries(made.map(({ event_name, properties }) => [event_name, JSON.parse(properties || '{}')])),
  ).toEqual({
    signup: {
      tag: 'spring',
      plan: 'growth',
      seats: 12,
      'is.trial': true,
      since: '2026-01-02 03:04:05+00',
      tags: '["a","b"]',
    },
    search: {},
  })
})

test('a file that is not there, one of another product, and an option of one, are refused', async () => {
  const path = write('one.jsonl', [view('a', '10:00:00')])
  const refused = async (...words: string[]) => svcOn(stores, 'events', 'import', ...words)
  expect(await refused(path, 'gone.jsonl')).toMatchObject({ code: 2, err: expect.stringContaining('gone.jsonl') })
  expect(await refused(write('mixed.csv', ['a,b', '1,2']))).toMatchObject({ code: 1, json: { refused: 2 } })
  expect(await refused(path, '--site', 'https://example.com')).toMatchObject({ code: 2 })
  expect(await refused(path, '--event-data', path)).toMatchObject({ code: 2 })
  expect(await refused(path, '--conversion', 'signup')).toMatchObject({ code: 2 })
})
