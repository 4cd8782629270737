/** What merges people, and what it stands on, killed while identifies come in: each person is there once, with all that it did. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ProcessName } from '../../start/dev-file.ts'
import { emptyRedis, setUpProduct, withStores } from '../support/product.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const draw = drawsOf('kill-merging')

/** Of each person so many, on two browsers. */
const identifiesEach = 5
const people = isLong ? 10_000 : 200
const identifies = people * identifiesEach
const killed: readonly ProcessName[] = isLong
  ? Array.from({ length: 7 }, () => ['pipeline', 'redis', 'pipeline', 'postgres'] as const).flat()
  : ['pipeline', 'redis', 'postgres', 'pipeline']
const batch = isLong ? 100 : 20
const callers = 4
const pauseMs = isLong ? 1_500 : 400
const settleMs = isLong ? 600_000 : 120_000

const running = setUpProduct('merging', {})

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

/** Each batch until it is taken: a repeat counts once by its `client_event_id`. */
async function sendAll(): Promise<void> {
  const order = Array.from({ length: identifies }, (_, at) => ({ at, place: draw() }))
    .sort((a, b) => a.place - b.place)
    .map(({ at }) => identify(Math.floor(at / identifiesEach), at % identifiesEach))
  const batches = Array.from({ length: Math.ceil(order.length / batch) }, (_, at) =>
    order.slice(at * batch, (at + 1) * batch),
  )
  const everyMs = (pauseMs * killed.length * callers) / batches.length
  const call = async () => {
    for (let events = batches.shift(); events !== undefined; events = batches.shift()) {
      while (!(await isTaken(events))) await sleep(100)
      await sleep(everyMs)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
}

async function isTaken(events: readonly object[]): Promise<boolean> {
  const { base_url, tracking_key } = running.product.dev
  const url = new URL('/api/v1/growth/track/batch', base_url)
  try {
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ tracking_key, events }) })
    const body = await answer.text()
    if (answer.status !== 202) expect([500, 502, 503], body).toContain(answer.status)
    else expect(JSON.parse(body)).toMatchObject({ rejected: [] })
    return answer.status === 202
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return false
  }
}

async function killOneByOne(): Promise<void> {
  for (const name of killed) {
    await sleep(pauseMs * (0.5 + draw()))
    // Its data is lost with it.
    if (name === 'redis') await emptyRedis(running.product)
    running.product.kill(name)
  }
}

/** People by what is known of them; undefined while a store is away. */
function known() {
  return withStores(running.product, ({ pg }) =>
    pg.query(
      `SELECT event_count, session_count, first_source, source, (SELECT count(*) FROM bindings WHERE contact_id = contacts.id) AS browsers,
         count(*) AS people
       FROM contacts GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`,
    ),
  ).catch(() => undefined)
}

test(
  `${identifies} identifies make ${people} people through ${killed.length} kills, each with all its events and both browsers`,
  async () => {
    await Promise.all([sendAll(), killOneByOne()])
    const whole = { event_count: identifiesEach, session_count: 2, first_source: 'news', source: 'ads', browsers: 2 }
    await expect.poll(known, { timeout: settleMs, interval: 500 }).toEqual([{ ...whole, people }])
    // Nothing is done once more afterwards.
    await sleep(3_000)
    expect(await known()).toEqual([{ ...whole, people }])
  },
  settleMs + (isLong ? 600_000 : 60_000),
)
