/** What sends to webhooks, and what it stands on, killed while changes come in: each is delivered, each under one id. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ProcessName } from '../../start/dev-file.ts'
import { emptyRedis, setUpProduct, withStores } from '../support/product.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { drawsOf, isLong } from '../support/short-form.ts'

const draw = drawsOf('kill-sending')

const changes = isLong ? 5_000 : 60
const killed: readonly ProcessName[] = isLong
  ? Array.from({ length: 7 }, () => ['pipeline', 'redis', 'pipeline', 'postgres'] as const).flat()
  : ['pipeline', 'redis', 'postgres']
const callers = 4
const pauseMs = isLong ? 1_500 : 400
const paths = ['/one', '/other'] as const
const patience = { timeout: 180_000, interval: 250 }

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

/** Until it is done: a store may be away, and an answer lost. */
async function post(path: string, body: object, key: string): Promise<{ id: number; secret: string }> {
  for (;;) {
    try {
      const { base_url, api_key } = running.product.dev
      const headers = { Authorization: `Bearer ${api_key}`, 'Content-Type': 'application/json', 'Idempotency-Key': key }
      const answer = await fetch(base_url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      if (answer.ok) return (await answer.json()) as { id: number; secret: string }
      expect([409, 500, 502, 503], await answer.text()).toContain(answer.status)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
    await sleep(100)
  }
}

async function makeChanges(): Promise<number[]> {
  const links: number[] = []
  let next = 0
  const call = async () => {
    while (next < changes) {
      const at = next++
      const link = { label: `Link ${at}`, destination_url: 'https://example.com/' }
      links.push((await post('/links', link, `link-${at}`)).id)
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
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

test(
  `${changes} changes reach both endpoints through ${killed.length} kills, each under one id and rightly signed`,
  async () => {
    const secrets = new Map<string, string>()
    for (const path of paths) {
      const registration = { url: receiver.url + path, events: ['link.created'] }
      secrets.set(path, (await post('/webhooks', registration, path)).secret)
    }
    const [links] = await Promise.all([makeChanges(), killOneByOne()])
    expect(new Set(links).size).toBe(changes)

    const delivered = async () => {
      const sql = `SELECT count(*) AS count FROM webhook_deliveries WHERE status = 'delivered'`
      return withStores(running.product, async ({ pg }) => (await pg.query<{ count: number }>(sql))[0]!.count).catch(
        () => 0,
      )
    }
    await vi.waitUntil(async () => (await delivered()) === changes * paths.length, patience)

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
  patience.timeout + (isLong ? 600_000 : 120_000),
)
