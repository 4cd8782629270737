/**
 * The merging of people, the sending to webhooks and their stores, killed while events and changes come in: all is
 * done, once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ProcessName } from '../../start/dev-file.ts'
import { emptyRedis, setUpProduct, withStores } from '../support/product.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const draw = drawsOf('kill-sending')

/** Identify events of each person, on two browsers. */
const identifiesEach = 5
const people = isLong ? 10_000 : 200
const identifies = people * identifiesEach
const batch = isLong ? 100 : 20
/** Each of them is told to both endpoints. */
const changes = isLong ? 5_000 : 60
const paths = ['/one', '/other'] as const
const killed: readonly ProcessName[] = isLong
  ? Array.from({ length: 7 }, () => ['pipeline', 'redis', 'pipeline', 'postgres'] as const).flat()
  : ['pipeline', 'redis', 'postgres', 'pipeline']
const callers = 4
const pauseMs = isLong ? 1_500 : 400
const settleMs = isLong ? 600_000 : 180_000

const running = setUpProduct('sending', { ALLOW_PRIVATE_TARGETS: 'true', RATE_LIMIT_GROWTH: '1000000' })
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver()
  // One in twenty is refused, once, and tried again.
  let requests = 0
  const refused = new Set<string>()
  receiver.behaviour = ({ headers }, response) => {
    const id = String(headers['webhook-id'])
    const isRefused = requests++ % 20 === 7 && !refused.has(id)
    if (isRefused) refused.add(id)
    response.writeHead(isRefused ? 500 : 200).end()
  }
})
afterAll(() => receiver?.close())

const begin = Math.floor(Date.now() / 1000) * 1000 - 3_600_000

/** The first on one browser, by a newsletter; the last on the other one, by an ad. */
function identify(person: number, nth: number) {
  const browser = `browser-${person}-${nth % 2}`
  const touch = nth === 0 ? { source: 'news', medium: 'email' } : nth === 4 ? { source: 'ads', medium: 'cpc' } : {}
  return {
    ...{ event_type: 'identify', event_name: 'identify', email: `p${person}@example.com` },
    ...{ anonymous_id: browser, session_id: browser, client_event_id: `${person}-${nth}`, ...touch },
    occurred_at: new Date(begin + nth * 1000).toISOString(),
  }
}

/** Until it is done: a store may be away, and an answer lost. A repeat counts once, by its ids or its key. */
async function post<Answer>(path: string, body: object, key = ''): Promise<Answer> {
  for (;;) {
    try {
      const { base_url, api_key } = running.product.dev
      const headers = { Authorization: `Bearer ${api_key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
      const answer = await fetch(new URL(path, base_url), {
        ...{ method: 'POST', headers: key === '' ? {} : headers, body: JSON.stringify(body) },
      })
      if (answer.ok) return (await answer.json()) as Answer
      expect([409, 500, 502, 503], await answer.text()).toContain(answer.status)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await sleep(100)
  }
}

/** Does the works, a few at a time, as long as kills go on. */
async function spread<Work>(works: Work[], work: (one: Work, at: number) => Promise<unknown>): Promise<void> {
  const everyMs = (pauseMs * killed.length * callers) / works.length
  let next = 0
  const call = async () => {
    while (next < works.length) {
      const at = next++
      await work(works[at]!, at)
      await sleep(everyMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
}

async function sendEvents(): Promise<void> {
  const order = Array.from({ length: identifies }, (_, at) => ({ at, place: draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ at }) => identify(Math.floor(at / identifiesEach), at % identifiesEach))
  const batches = Array.from({ length: Math.ceil(order.length / batch) }, (_, at) =>
    order.slice(at * batch, (at + 1) * batch),
  )
  const { tracking_key } = running.product.dev
  await spread(batches, async (events) => {
    expect(await post('/api/v1/growth/track/batch', { tracking_key, events })).toMatchObject({ rejected: [] })
  })
}

/** @returns the ids of what was made */
async function makeChanges(): Promise<number[]> {
  const links: number[] = []
  await spread(Array.from({ length: changes }), async (_, at) => {
    const link = { label: `Link ${at}`, destination_url: 'https://example.com/' }
    links.push((await post<{ id: number }>('/v1/links', link, `link-${at}`)).id)
  })
  return links
}

async function killOneByOne(): Promise<void> {
  for (const name of killed) {
    await sleep(pauseMs * (0.5 + draw()))
    // Its data is lost with it.
    if (name === 'redis') await emptyRedis(running.product)
    running.product.kill(name)
  }
}

/** Undefined while a store is away. */
const query = (sql: string) => withStores(running.product, ({ pg }) => pg.query(sql)).catch(() => undefined)

/** People by what is known of them. */
const known = () =>
  query(
    `SELECT event_count, session_count, first_source, source, (SELECT count(*) FROM bindings WHERE contact_id = contacts.id) AS browsers,
       count(*) AS people
     FROM contacts GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
  )
const delivered = () => query(`SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'delivered'`)

test(
  `through ${killed.length} kills ${identifies} identifies make ${people} whole people, and ${changes} changes reach both endpoints, each under one id and rightly signed`,
  async () => {
    const secrets = new Map<string, string>()
    for (const path of paths) {
      const registration = { url: receiver.url + path, events: ['link.created'] }
      secrets.set(path, (await post<{ secret: string }>('/v1/webhooks', registration, path)).secret)
    }
    const [links] = await Promise.all([makeChanges(), sendEvents(), killOneByOne()])
    expect(new Set(links).size).toBe(changes)
    const patience = { timeout: settleMs, interval: 500 }
    const whole = { event_count: identifiesEach, session_count: 2, first_source: 'news', source: 'ads', browsers: 2 }
    await expect.poll(known, patience).toEqual([{ ...whole, people }])
    await expect.poll(delivered, patience).toEqual([{ count: changes * paths.length }])
    // Nothing is done once more afterwards.
    await sleep(3_000)
    expect(await known()).toEqual([{ ...whole, people }])

    const idsOf = new Map<string, Set<string>>()
    for (const { path, headers, body } of receiver.received) {
      const { id, data } = new Webhook(secrets.get(path)!).verify(body, headers) as {
        id: string
        data: { object: { id: number } }
      }
      expect(id).toBe(headers['webhook-id'])
      const what = `${path} ${data.object.id}`
      idsOf.set(what, (idsOf.get(what) ?? new Set()).add(id))
    }
    expect([...idsOf.keys()].sort()).toEqual(paths.flatMap((path) => links.map((id) => `${path} ${id}`)).sort())
    expect([...idsOf.values()].every((ids) => ids.size === 1)).toBe(true)
  },
  2 * settleMs + (isLong ? 600_000 : 120_000),
)
