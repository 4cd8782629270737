/** Webhook events about people: contacts as `GET /v1/people` shows them, conversions as `recent_events` does. */
import { expect, test } from 'vitest'
import { refreshPeople } from '../../pipeline/people/refresh.ts'
import type { Event } from '../../schemas/resources/overview.ts'
import { setUpApi } from '../support/api.ts'
import { foldStored } from '../support/figures.ts'
import { workOn } from '../support/fold.ts'
import { setUpIngest } from '../support/ingest.ts'
import { askPeople, mergeAndRefreshPeople, type SentEvent, settlePeople, track } from '../support/people.ts'
import { asking } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const ingest = setUpIngest(stores)

const from = (anonymous_id: string, event_type: string, more: SentEvent = {}): SentEvent => ({
  event_type,
  event_name: event_type,
  anonymous_id,
  url: 'https://example.com/',
  ...more,
})

async function send(...events: SentEvent[]) {
  await track(ingest, mine, events)
  await settleMerges()
}

/** Contacts wait to be told of until what came before is folded. */
async function settleMerges() {
  do await settlePeople(stores, ingest)
  while ((await stores.pg.query('SELECT FROM untold_merges')).length > 0)
}

async function listen(events?: string[]) {
  const body = { url: 'https://example.com/hook', ...(events && { events }) }
  expect((await asking(api, () => mine.apiKey)('POST', '/v1/webhooks', body)).status).toBe(200)
}

/** Webhook events since the last look. */
async function told() {
  const rows = await stores.pg.query<{ type: string; object: Record<string, unknown> }>(
    'DELETE FROM outbox WHERE workspace_id = $1 RETURNING type, object, id',
    [mine.workspaceId],
  )
  return rows.map(({ type, object }) => ({ type, object }))
}

test('a contact is told of when it comes, when its name changes, and when it gets a browser with events', async () => {
  await listen()
  await told()
  await send(from('a', 'identify', { email: 'ada@example.com' }))
  const [created, ...others] = await told()
  const [person] = await askPeople(api, mine).people()
  expect(others).toEqual([])
  expect(created!.type).toBe('contact.created')
  // Its event is counted a moment later.
  const counted = { event_count: expect.any(Number), session_count: expect.any(Number) }
  expect(created!.object).toEqual({ ...person, ...counted })
  await send(from('a', 'identify', { email: 'ada@example.com' }))
  expect(await told()).toEqual([])
  await send(from('a', 'identify', { email: 'ada@example.com', full_name: 'Ada' }))
  expect(await told()).toEqual([{ type: 'contact.updated', object: expect.objectContaining({ full_name: 'Ada' }) }])
  await send(from('b', 'identify', { email: 'ada@example.com' }))
  expect(await told()).toEqual([])
  await send(from('c', 'track', { event_name: 'pageview' }))
  await send(from('c', 'identify', { email: 'ada@example.com' }))
  expect(await told()).toEqual([
    { type: 'contact.merged', object: expect.objectContaining({ id: person!.id, full_name: 'Ada' }) },
  ])
})

test('a contact that gets a browser is told of when its events are folded later, and when it comes between two others', async () => {
  await listen(['contact.merged'])
  await told()
  const ago = (minutes: number) => ({ occurred_at: new Date(Date.now() - minutes * 60_000).toISOString() })
  const identify = (name: string, minutes: number) =>
    from('g', 'identify', { email: `${name}@example.com`, ...ago(minutes) })
  const merged = async () => (await told()).map(({ type, object }) => [type, object['email']])
  await track(ingest, mine, [from('g', 'track', ago(40)), identify('gil', 30)])
  await ingest.shipped()
  // The merge comes between a fold's beginning and its end.
  await mergeAndRefreshPeople(stores)
  expect(await merged()).toEqual([])
  await settleMerges()
  expect(await merged()).toEqual([['contact.merged', 'gil@example.com']])
  await send(identify('hal', 10))
  expect(await merged()).toEqual([['contact.merged', 'hal@example.com']])
  await send(identify('ian', 20))
  expect(await merged()).toEqual([['contact.merged', 'ian@example.com']])
  // The other browser's first event was an identify.
  const onOther = (name: string) => from('h', 'identify', { email: `${name}@example.com` })
  await send(onOther('joe'))
  expect(await merged()).toEqual([])
  await send(onOther('kim'))
  expect(await merged()).toEqual([['contact.merged', 'kim@example.com']])
})

test('a conversion is told of once, as recent events show it', async () => {
  await listen(['conversion.recorded'])
  const events = [
    from('c', 'track', { event_name: 'pageview' }),
    from('c', 'conversion', { properties: { plan: 'team' } }),
  ]
  await send(...events, from('d', 'conversion', { email: 'dora@example.com' }))
  const overview = (await (await api.ask('/v1/analytics/overview?hours=24', { key: mine.apiKey })).json()) as {
    recent_events: Event[]
  }
  const conversions = overview.recent_events.filter(({ event_type }) => event_type === 'conversion')
  const rows = await told()
  expect(rows.map(({ type }) => type)).toEqual(['conversion.recorded', 'conversion.recorded'])
  expect(rows.map(({ object }) => object)).toEqual(conversions.sort((one, other) => one.id - other.id))
  await mergeAndRefreshPeople(stores)
  expect(await told()).toEqual([])
})

test('a conversion is told of however late the pipeline is with it', async () => {
  await listen(['conversion.recorded'])
  await track(ingest, mine, [from('f', 'conversion')])
  await ingest.shipped()
  await foldStored(stores)
  await refreshPeople(workOn(stores), Date.now() + 4 * 86_400_000)
  expect((await told()).map(({ type }) => type)).toEqual(['conversion.recorded'])
})

test('nothing is written down where no endpoint wants it', async () => {
  await listen(['post.created'])
  await send(from('e', 'identify', { email: 'eve@example.com' }), from('e', 'conversion'))
  expect(await told()).toEqual([])
})
