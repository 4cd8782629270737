/** Chunks of replays through the front door of ingest. */
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, test, vi } from 'vitest'
import { trackingRefusals } from '../../ingest/http/tracking-refusals.ts'
import { changeWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import {
  replayBodyBytesMax,
  replayDepthMax,
  replayEventsMax,
  replayJsonBytesMax,
  replayNodesMax,
  replayNodesPerSecondMax,
  replaySessionBytesMax,
} from '../../schemas/limits/replay-limits.ts'
import { setUpIngest, startIngest } from '../support/ingest.ts'
import { onOneDay } from '../support/one-day.ts'
import { browserAgent, incompressible, madeEvents, makeChunk, pack, sendChunk } from '../support/replays.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const ingest = setUpIngest(stores)

async function switchReplay(isOn: boolean): Promise<void> {
  await changeWorkspace(stores.pg, ingest.workspaceId, { replayEnabled: isOn })
  const wanted = isOn ? 202 : 403
  await vi.waitFor(async () => expect((await sendChunk(ingest, { session: 'probe' })).status).toBe(wanted), 60_000)
}

beforeAll(() => switchReplay(true))

const post = (chunk: unknown, at = ingest) => at.post('/replay', chunk, { 'User-Agent': browserAgent })

async function rowsOf(session: string): Promise<Record<string, unknown>[]> {
  await ingest.shipped()
  return stores.ch.query(
    'SELECT * FROM replay_chunks FINAL WHERE session_id = {session:String} ORDER BY page_id, sequence',
    { session },
  )
}

const outcomes = (node = ingest) => node.counted('ingest_replay_chunks_total', 'outcome')

test('a chunk is stored with what its events say, and as its visitor’s events name visitor and session', async () => {
  const at = Date.now() - 10_000
  const { status, body } = await sendChunk(ingest, { session: 'whole', at })
  expect([status, body]).toEqual([202, { accepted: true }])
  await ingest.post('/track', {
    tracking_key: ingest.key,
    event_name: 'pageview',
    anonymous_id: 'browser-1',
    session_id: 'whole',
    url: 'https://example.com/',
  })
  const [row] = await rowsOf('whole')
  expect(row).toMatchObject({
    workspace_id: ingest.workspaceId,
    sequence: 0,
    duration_ms: 4_000,
    event_count: 3,
    clicks: 1,
    device: 'desktop',
    browser: 'Chrome',
    os: 'Windows',
    country: 'DE',
    page_id: 'p1',
    anonymous_id: 'browser-1',
    path: '/pricing',
    url: 'https://example.com/pricing?a=b',
    events: pack(madeEvents(at)),
  })
  const [event] = await stores.ch.query<Record<string, unknown>>('SELECT visitor, session FROM events')
  expect([row!['visitor'], row!['session']]).toEqual([event!['visitor'], event!['session']])
})

test('a repeat replaces the first, and another sequence or page load stands beside it', async () => {
  const at = Date.now() - 10_000
  for (const sequence of [0, 1, 1, 0]) await sendChunk(ingest, { session: 'twice', sequence, at })
  await sendChunk(ingest, { session: 'twice', page: 'p2', at })
  const rows = await rowsOf('twice')
  expect(rows.map((row) => [row['page_id'], row['sequence']])).toEqual([
    ['p1', 0],
    ['p1', 1],
    ['p2', 0],
  ])
})

test('a clock that is wrong by hours is corrected, and a time that can’t be right is that of receipt', async () => {
  const offset = -5 * 3_600_000
  const now = Date.now()
  const chunk = makeChunk(ingest.key, { session: 'clock', at: now + offset - 6_000 })
  await post({ ...chunk, sent_at: new Date(now + offset).toISOString() })
  const sentAt = Date.now()
  await sendChunk(ingest, { session: 'clock', sequence: 1, at: Date.UTC(2001, 1, 1) })
  const heardAt = Date.now()
  const times = (await rowsOf('clock')).map((row) => Date.parse(`${String(row['occurred_at']).replace(' ', 'T')}Z`))
  const isBetween = (time: number, from: number, to: number) => time >= from && time <= to
  expect(isBetween(times[0]! + 6_000, now, sentAt)).toBe(true)
  expect(isBetween(times[1]! + 4_000, sentAt, heardAt)).toBe(true)
})

test('what is no packed list of events within the bounds is refused, and counted', async () => {
  const at = Date.now() - 10_000
  const before = (await outcomes())['invalid'] ?? 0
  const deep = `[{"type":3,"timestamp":${at},"data":${'['.repeat(replayDepthMax)}${']'.repeat(replayDepthMax)}}]`
  const filler = incompressible(60_000)
  const bad: string[] = [
    'not base64!',
    Buffer.from('no gzip').toString('base64'),
    pack({}),
    pack([]),
    pack([1]),
    pack([{ type: 9, timestamp: at, data: {} }]),
    pack([{ type: 3, timestamp: 'now', data: {} }]),
    pack([{ type: 3, timestamp: at }]),
    pack(Array.from({ length: replayEventsMax + 1 }, () => ({ type: 3, timestamp: at, data: {} }))),
    gzipSync(deep).toString('base64'),
    // Within the ratio of sizes, by a text that hardly shrinks; and eight MB of nothing, which aren't.
    gzipSync(`[{"type":3,"timestamp":${at},"data":["${filler}"${',[]'.repeat(replayNodesMax / 2)}]}]`).toString(
      'base64',
    ),
    gzipSync(`[${'[],'.repeat(2_700_000)}[]]`).toString('base64'),
    pack([{ type: 3, timestamp: at, data: { text: 'a'.repeat(2_000_000) } }]),
    gzipSync(`[${' '.repeat(replayJsonBytesMax)}]`).toString('base64'),
    gzipSync('[{"type":3').toString('base64'),
  ]
  for (const events of bad) {
    const answer = await post({ ...makeChunk(ingest.key, { session: 'bad' }), events })
    expect([answer.status, events.slice(0, 20)]).toEqual([422, events.slice(0, 20)])
    expect(answer.body.detail).toMatchObject([{ loc: ['body', 'events'], type: 'value_error' }])
  }
  expect((await outcomes())['invalid']).toBe(before + bad.length)
  const { session_id: _, ...without } = makeChunk(ingest.key)
  const missing = await post(without)
  expect(missing.body.detail).toMatchObject([{ loc: ['body', 'session_id'], type: 'missing' }])
  const nobody = await sendChunk(ingest, { browser: 'undefined' })
  expect(nobody.body.detail).toMatchObject([{ loc: ['body', 'anonymous_id'] }])
  const large = await post('x'.repeat(replayBodyBytesMax + 1))
  expect(large.status).toBe(413)
  expect(await rowsOf('bad')).toEqual([])
})

test('the largest chunk is stored as it was sent, beside others of its group', async () => {
  // Random text hardly shrinks: its body is just below the bound.
  const random = incompressible(900_000)
  const at = Date.now() - 10_000
  const chunk = makeChunk(ingest.key, { session: 'large', events: madeEvents(at, 1, random) })
  expect((chunk['events'] as string).length).toBeGreaterThan(replayBodyBytesMax * 0.75)
  const sent = [0, 1, 2].map((sequence) => post({ ...chunk, sequence }))
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([202, 202, 202])
  const rows = await rowsOf('large')
  expect(rows.map((row) => row['events'] === chunk['events'])).toEqual([true, true, true])
})

test('a session that has reached its limit is refused, and others go on', async () => {
  const at = Date.now() - 10_000
  const random = incompressible(800_000)
  const chunk = makeChunk(ingest.key, { session: 'full', events: madeEvents(at, 1, random) })
  const bytes = (chunk['events'] as string).length
  const fitting = Math.floor(replaySessionBytesMax / bytes)
  for (let sequence = 0; sequence < fitting; sequence++) {
    await vi.waitFor(
      async () => {
        // A key may send so much in a second.
        expect((await post({ ...chunk, sequence })).status).toBe(202)
      },
      { timeout: 60_000, interval: 300 },
    )
  }
  const over = await post({ ...chunk, sequence: fitting })
  expect([over.status, over.body.detail]).toEqual([403, 'The replay of this session has reached its limit'])
  expect((await sendChunk(ingest, { session: 'other' })).status).toBe(202)
})

test('chunks use up nothing of their key’s events, but the bytes of their workspace’s day', async () => {
  await onOneDay()
  const chunk = makeChunk(ingest.key, {
    session: 'day',
    events: madeEvents(Date.now() - 10_000, 1, incompressible(9_000)),
  })
  const env = { TRACK_RATE_PER_KEY: '1', REPLAY_BYTES_PER_DAY: String((chunk['events'] as string).length * 5 + 1) }
  const small = await startIngest({ ...stores, dataDir: `${stores.dataDir}/small` }, env, ingest)
  const send = async (sequence: number) => (await post({ ...chunk, sequence }, small)).status
  const event = { tracking_key: small.key, event_name: 'pageview', anonymous_id: 'browser-1' }
  const statuses: number[] = []
  for (let sequence = 0; sequence < 4; sequence++) statuses.push(await send(sequence))
  expect(statuses).toEqual([202, 202, 202, 202])
  expect((await post({ tracking_key: small.key }, small)).status).toBe(422)
  expect((await post({ tracking_key: 'unknown' }, small)).status).toBe(401)
  // In one second an event passes beside chunks, and a second event doesn't.
  await vi.waitFor(async () => {
    const sent = [await small.post('/track', event), await small.post('/track', event)]
    expect(sent.map(({ status }) => status)).toEqual([202, 429])
  }, 60_000)
  expect([await send(4), await send(5)]).toEqual([202, 429])
  const { invalid, unknown_key } = await small.counted('ingest_events_refused_total')
  expect([invalid, unknown_key]).toEqual([undefined, undefined])
  expect(await outcomes(small)).toMatchObject({ unknown_key: 1, day_full: 1 })
  await small.stop()
})

test('chunks of more objects than a thread parses in a second are put off', async () => {
  const at = Date.now() - 10_000
  // Three fifths of a key's nodes of a second: a second chunk in the same one is too much, whosever session it is.
  const nodes = Array.from({ length: replayNodesPerSecondMax * 0.3 }, () => [])
  const events = pack([{ type: 3, timestamp: at, data: { nodes, filler: incompressible(20_000) } }])
  await vi.waitFor(async () => {
    const sent = ['n1', 'n2', 'n3'].map((session) => post({ ...makeChunk(ingest.key, { session }), events }))
    const answers = await Promise.all(sent)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 429, 429])
    const refused = answers.find(({ status }) => status === 429)!
    expect([refused.headers.get('retry-after'), refused.body.detail]).toEqual(['1', trackingRefusals.keyRate.detail])
  }, 60_000)
})

test('bots and programs are refused', async () => {
  const googlebot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
  for (const agent of [googlebot, 'curl/8.5.0', '']) {
    expect([agent, (await sendChunk(ingest, { session: 'bot' }, { 'User-Agent': agent })).status]).toEqual([agent, 403])
  }
  expect(await rowsOf('bot')).toEqual([])
})

test('what any of several threads acknowledged before a kill is stored after it', async () => {
  const env = { INGEST_WORKERS: '2' }
  const folder = { ...stores, dataDir: `${stores.dataDir}/killed` }
  const killed = await startIngest(folder, env, ingest)
  const connection = { Connection: 'close' }
  for (let sequence = 0; sequence < 20; sequence++) {
    expect((await sendChunk(killed, { session: 'killed', sequence }, connection)).status).toBe(202)
  }
  await killed.stop('SIGKILL')
  const again = await startIngest(folder, env, ingest)
  await again.shipped()
  await again.stop()
  expect((await rowsOf('killed')).map((row) => row['sequence'])).toEqual(Array.from({ length: 20 }, (_, at) => at))
})

test('where replay is off nothing is stored, and the refusal is counted', async () => {
  await switchReplay(false)
  const before = (await outcomes())['replay_off'] ?? 0
  const { status, body } = await sendChunk(ingest, { session: 'off' })
  expect([status, body.detail]).toEqual([403, 'Replay is off for this workspace'])
  expect((await outcomes())['replay_off']).toBe(before + 1)
  expect(await rowsOf('off')).toEqual([])
})
