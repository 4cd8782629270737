/** From a change to the receiver: what is sent, how it is signed, when it is tried again, and what is recorded. */
import { Webhook } from 'standardwebhooks'
import { describe, expect, test, vi } from 'vitest'
import type { SenderOptions } from '../../pipeline/webhooks/sender.ts'
import { runTurn } from '../../pipeline/webhooks/turn.ts'
import type { Postgres } from '../../postgres/client.ts'
import { forgetOutbox } from '../../postgres/tables/webhooks/outbox.ts'
import { deleteOldDeliveries, redeliver } from '../../postgres/tables/webhooks/webhook-deliveries.ts'
import {
  type AttemptResult,
  failPending,
  recordAttempts,
  type Turn,
} from '../../postgres/tables/webhooks/webhook-turns.ts'
import { sleep } from '../../runtime/retry.ts'
import { webhookJitter, webhookRetryDelaysMs } from '../../schemas/limits/webhook-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { asking } from '../support/publishing.ts'
import { setUpReceiver } from '../support/receiver.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'
import { patience, type ShownDelivery, setUpWebhooks, startTestSender } from '../support/webhooks.ts'

const { stores, api, mine, ask, register, makeLink, deliveries, untilDelivery, endpointStatus, hurry } = setUpWebhooks()

const receiver = setUpReceiver()

const untilReceived = (count: number) => vi.waitUntil(() => receiver.received.length >= count, patience)
const answer = (status: number, headers: Record<string, string> = {}, body = '') => {
  receiver.behaviour = (_, response) => response.writeHead(status, headers).end(body)
}
const afterAttempts = (count: number) => untilDelivery(({ attempt_count }) => attempt_count === count)
/** An endpoint that fails, and its delivery after an attempt. */
async function failOnce() {
  const { id: endpointId } = await register(receiver.url)
  answer(500)
  await makeLink()
  const { id } = await afterAttempts(1)
  // Its next one is five seconds away, which a slow machine takes: tests hurry it.
  await stores.pg.query(`UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 hour' WHERE id = $1`, [id])
  return { endpointId, first: await afterAttempts(1) }
}
const turnOf = (endpointId: number): Turn => ({
  endpointId,
  url: '',
  secret: Buffer.alloc(0),
  state: 'enabled',
  isFailing: true,
})
const failedAttempt = (attempt: Pick<AttemptResult, 'deliveryId' | 'attemptsBefore' | 'retryStep'>): AttemptResult => ({
  ...attempt,
  isByHand: false,
  status: 'pending',
  responseStatus: 500,
  responseBody: '',
  error: 'The endpoint answered 500',
  durationMs: 1,
  waitMs: 9_000_000,
  holdMs: null,
})
const untilWaiting = () => vi.waitFor(async () => expect(await countWaiting(stores.pg)).toBe(1), patience)
const dueInMs = ({ next_attempt_at }: ShownDelivery) => Date.parse(next_attempt_at!) - Date.now()

test('a change is delivered once, as the API showed it, with a signature that the official library verifies', async () => {
  const { secret, id } = await register(`${receiver.url}/hook?of=mine`)
  const link = await makeLink()
  await untilReceived(1)
  const [{ path, headers, body }] = receiver.received as [(typeof receiver.received)[0]]
  const payload = new Webhook(secret).verify(body, headers) as Record<string, unknown>
  expect(payload).toEqual({
    id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
    type: 'link.created',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    workspace_id: mine.workspaceId,
    data: { object: link },
  })
  expect([path, headers['webhook-id'], headers['content-type']]).toEqual([
    '/hook?of=mine',
    payload['id'],
    'application/json',
  ])
  expect(() => new Webhook(secret).verify(body.replace('link', 'lank'), headers)).toThrow()
  const delivery = await untilDelivery(({ status }) => status === 'delivered')
  expect(delivery).toEqual({
    id: expect.any(Number),
    object_id: `webhook_delivery_${delivery.id}`,
    webhook_endpoint_id: id,
    event_id: payload['id'],
    event_type: 'link.created',
    status: 'delivered',
    attempt_count: 1,
    response_status: 200,
    response_body: 'ok',
    error: null,
    duration_ms: expect.any(Number),
    next_attempt_at: null,
    delivered_at: expect.any(String),
    created_at: expect.any(String),
  })
  expect(receiver.received).toHaveLength(1)
})

test('an attempt whose COMMIT was not answered counts once, though it is recorded again', async () => {
  const { endpointId, first } = await failOnce()
  const { id: deliveryId, next_attempt_at } = first
  const turn = turnOf(endpointId)
  const again = failedAttempt({ deliveryId, attemptsBefore: 0, retryStep: 0 })
  await recordAttempts(stores.pg, turn, [again], 60_000)
  expect(await untilDelivery(({ id }) => id === deliveryId)).toMatchObject({ attempt_count: 1, next_attempt_at })
  await ask('DELETE', `/v1/webhooks/${endpointId}`)

  // With its workspace the endpoint's row goes, while an attempt is under way.
  const gone = { ...turn, endpointId: endpointId + 1_000_000 }
  expect(await recordAttempts(stores.pg, gone, [again], 60_000)).toEqual({ state: 'deleted', isFailing: false })
})

test('an endpoint hears of the events that it named, those of its workspace, and of none from before it was made', async () => {
  await makeLink('before')
  await register(`${receiver.url}/links`, { events: ['link.created'] })
  await register(`${receiver.url}/posts`, { events: ['post.created'] })
  const theirs = await makeWorkspace(stores)
  await asking(api, () => theirs.apiKey)('POST', '/v1/links', { label: 'x', destination_url: 'https://example.com/' })
  await makeLink('after')
  await untilReceived(1)
  await ask('POST', '/v1/posts', { title: 'A post', base_caption: 'Text' })
  await untilReceived(2)
  expect(receiver.received.map(({ path, body }) => [path, JSON.parse(body).data.object.label])).toEqual([
    ['/links', 'after'],
    ['/posts', undefined],
  ])
})

test('every failed attempt is followed by the next on the schedule, under one id, until the delivery has failed', async () => {
  const { secret, id: endpointId } = await register(receiver.url)
  answer(500, {}, 'out of order')
  await makeLink()
  for (const [at, delayMs] of webhookRetryDelaysMs.entries()) {
    const delivery = await afterAttempts(at + 1)
    expect(delivery).toMatchObject({ status: 'pending', response_status: 500, response_body: 'out of order' })
    expect(delivery.error).toBe('The endpoint answered 500')
    const heardAt = receiver.received.at(-1)!.at
    expect(Date.parse(delivery.next_attempt_at!) - heardAt).toBeGreaterThanOrEqual(delayMs)
    expect(dueInMs(delivery)).toBeLessThanOrEqual(delayMs * (1 + webhookJitter))
    await hurry(delivery.id)
  }
  const failed = await untilDelivery(({ status }) => status === 'failed')
  expect(failed).toMatchObject({ attempt_count: webhookRetryDelaysMs.length + 1, next_attempt_at: null })
  const ids = receiver.received.map(({ headers, body }) => {
    new Webhook(secret).verify(body, headers)
    return headers['webhook-id']
  })
  expect(new Set(ids)).toEqual(new Set([failed.event_id]))
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
  expect(await endpointStatus(endpointId)).toBe('enabled')
})

test.each([
  [429, () => '3600'],
  [503, () => new Date(Date.now() + 3_600_000).toUTCString()],
])('Retry-After of %i is honoured, for other events of the endpoint as well', async (status, retryAfter) => {
  await register(receiver.url)
  const begunAt = Date.now()
  answer(status, { 'retry-after': retryAfter() })
  await makeLink('first')
  const first = await afterAttempts(1)
  // A date has whole seconds.
  expect(Date.parse(first.next_attempt_at!) - begunAt).toBeGreaterThan(3_598_000)
  const second = await heldBack('second', first.id)
  expect(receiver.received).toHaveLength(1)
  // Somebody who asks by hand doesn't wait.
  receiver.behaviour = undefined
  await ask('POST', `/v1/webhooks/deliveries/${second}/redeliver`)
  await untilDelivery(({ status: now }) => now === 'delivered')
})

/** Makes a change that isn't sent. @returns its delivery */
async function heldBack(label: string, newest: number): Promise<number> {
  await makeLink(label)
  const { id } = await untilDelivery((delivery) => delivery.id > newest)
  await sleep(600)
  expect((await deliveries())[0]).toMatchObject({ id, attempt_count: 0, status: 'pending' })
  return id
}

test('an attempt that ends after one with Retry-After leaves the endpoint alone as well', async () => {
  const { id } = await register(receiver.url)
  const hold = (until: string) =>
    stores.pg.query(`UPDATE webhook_endpoints SET held_until = ${until} WHERE id = $1`, [id])
  let attempts = 0
  receiver.behaviour = (_, response) => {
    if (attempts++ === 0) response.writeHead(429, { 'retry-after': '3600' }).end()
    else setTimeout(() => response.writeHead(500).end(), 300)
  }
  // Both are under way at once.
  await hold(`now() + interval '1 hour'`)
  await Promise.all([makeLink('first'), makeLink('second')])
  await vi.waitUntil(async () => (await deliveries()).length === 2, patience)
  await hold('NULL')
  await vi.waitUntil(async () => (await deliveries()).every(({ attempt_count }) => attempt_count === 1), patience)
  receiver.behaviour = undefined
  await heldBack('third', (await deliveries())[0]!.id)
  await ask('DELETE', `/v1/webhooks/${id}`)
})

describe('disablement', () => {
  test('410 disables the endpoint and ends what waits; it gets only what is asked for by hand, whose success enables it', async () => {
    const { endpointId: id, first: waiting } = await failOnce()
    answer(410)
    await makeLink('is not wanted')
    await vi.waitUntil(async () => (await endpointStatus(id)) === 'disabled', patience)
    await makeLink('not even tried')
    await vi.waitUntil(async () => (await deliveries()).every(({ status }) => status === 'failed'), patience)
    const [gone, ended, ...more] = await deliveries()
    expect(gone).toMatchObject({ response_status: 410, attempt_count: 1, next_attempt_at: null })
    expect(ended).toMatchObject({ id: waiting.id, error: 'The endpoint is disabled', next_attempt_at: null })
    expect(more).toEqual([])

    answer(500)
    await ask('POST', `/v1/webhooks/${id}/test`)
    const tried = await untilDelivery((one) => one.event_type === 'webhook.test' && one.attempt_count === 1)
    expect([tried.status, await endpointStatus(id)]).toEqual(['pending', 'disabled'])
    receiver.behaviour = undefined
    await hurry(tried.id)
    await untilDelivery(({ status }) => status === 'delivered')
    expect(await endpointStatus(id)).toBe('enabled')
    for (const action of ['enable', 'disable'])
      expect((await ask('GET', `/v1/audit-log?action=webhook_endpoint.${action}`)).body).toHaveLength(1)
    await makeLink('again')
    await untilDelivery(({ event_type, status }) => event_type === 'link.created' && status === 'delivered')
  })

  test.each([
    ['5 days', '1 hour', 'disabled'],
    ['4 days 23 hours', '1 hour', 'enabled'],
    // Silence in between is no failure.
    ['30 days', '28 days', 'enabled'],
  ])('failures for %s, the last of them %s ago, and one more: %s', async (since, last, status) => {
    const { endpointId: id, first } = await failOnce()
    await stores.pg.query(
      'UPDATE webhook_endpoints SET failing_since = now() - $2::interval, failed_at = now() - $3::interval WHERE id = $1',
      [id, since, last],
    )
    await hurry(first.id)
    await afterAttempts(2)
    expect(await endpointStatus(id)).toBe(status)
  })

  test('a success between failures lets them count anew', async () => {
    const { endpointId: id, first } = await failOnce()
    receiver.behaviour = undefined
    await hurry(first.id)
    await untilDelivery(({ status }) => status === 'delivered')
    const [kept] = await stores.pg.query('SELECT failing_since, failed_at FROM webhook_endpoints WHERE id = $1', [id])
    expect(kept).toEqual({ failing_since: null, failed_at: null })
  })

  test('what is deleted gets nothing more', async () => {
    const { endpointId: id, first } = await failOnce()
    await ask('DELETE', `/v1/webhooks/${id}`)
    expect(await untilDelivery(({ status }) => status === 'failed')).toMatchObject({ error: 'The endpoint is deleted' })
    expect(receiver.received).toHaveLength(1)
    expect(await ask('POST', `/v1/webhooks/deliveries/${first.id}/redeliver`)).toEqual({
      status: 409,
      body: { detail: 'The webhook endpoint is deleted' },
    })
    expect((await ask('POST', `/v1/webhooks/${id}/test`)).status).toBe(404)
  })
})

test('an endpoint has its turn, though a clock that ran ahead has ended the one before', async () => {
  const { id } = await register(receiver.url)
  await stores.pg.query(`UPDATE webhook_endpoints SET leased_until = now() + interval '3 days' WHERE id = $1`, [id])
  await makeLink()
  await untilReceived(1)
  expect(receiver.received).toHaveLength(1)
})

test('a delivery that a clock which ran ahead has put off is sent once the clock is right', async () => {
  const { id } = await register(receiver.url)
  const leaseUntil = (until: string) =>
    stores.pg.query(`UPDATE webhook_endpoints SET leased_until = ${until} WHERE id = $1`, [id])
  await leaseUntil(`now() + interval '20 seconds'`)
  await makeLink()
  await vi.waitFor(async () => {
    const putOff = await stores.pg.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() + interval '3 days' WHERE webhook_endpoint_id = $1 RETURNING id`,
      [id],
    )
    expect(putOff).toHaveLength(1)
  }, patience)
  await leaseUntil('NULL')
  await untilReceived(1)
})

test('a turn that ends very many deliveries stops with its process, and the next turn goes on', async () => {
  const { id } = await register(receiver.url)
  // No sender takes the turn.
  await stores.pg.query(
    `UPDATE webhook_endpoints SET status = 'disabled', leased_until = now() + interval '1 hour' WHERE id = $1`,
    [id],
  )
  await stores.pg.query(
    `INSERT INTO webhook_deliveries (workspace_id, webhook_endpoint_id, event_id, event_type, next_attempt_at)
     SELECT $1, $2, 'evt_many_' || n, 'link.created', now() FROM generate_series(1, 2500) AS n`,
    [mine.workspaceId, id],
  )
  const pending = async () =>
    (
      await stores.pg.query(`SELECT FROM webhook_deliveries WHERE webhook_endpoint_id = $1 AND status = 'pending'`, [
        id,
      ])
    ).length
  await runTurn({ ...turnOf(id), state: 'disabled' }, { pg: stores.pg } as SenderOptions, AbortSignal.abort())
  expect(await pending()).toBe(1500)
  await stores.pg.query('UPDATE webhook_endpoints SET leased_until = NULL WHERE id = $1', [id])
  await vi.waitFor(async () => expect(await pending()).toBe(0), patience)
  await stores.pg.query('DELETE FROM webhook_deliveries WHERE webhook_endpoint_id = $1', [id])
})

describe('by hand', () => {
  const redeliverByHand = (id: number) => ask('POST', `/v1/webhooks/deliveries/${id}/redeliver`)

  test('a test is delivered to its endpoint alone, whatever events that takes', async () => {
    const { id, secret } = await register(`${receiver.url}/mine`, { events: ['post.failed'] })
    await register(`${receiver.url}/other`)
    const { status, body } = await ask<ShownDelivery>('POST', `/v1/webhooks/${id}/test`)
    const waiting = { webhook_endpoint_id: id, event_type: 'webhook.test', status: 'pending', attempt_count: 0 }
    expect([status, body]).toMatchObject([200, waiting])
    const delivered = await untilDelivery((delivery) => delivery.status === 'delivered')
    expect(delivered.id).toBe(body.id)
    const [{ path, headers, body: sent }, ...more] = receiver.received as [(typeof receiver.received)[0]]
    expect([path, more]).toEqual(['/mine', []])
    expect(new Webhook(secret).verify(sent, headers)).toMatchObject({
      id: body.event_id,
      type: 'webhook.test',
      data: { object: { id, url: `${receiver.url}/mine`, status: 'enabled' } },
    })
    expect(sent).not.toContain('whsec_')
  })

  test('a redelivery sends the same event under the same id, and counts on', async () => {
    await register(receiver.url)
    await makeLink()
    const first = await untilDelivery(({ status }) => status === 'delivered')
    const { status, body } = await ask('POST', `/v1/webhooks/deliveries/webhook_delivery_${first.id}/redeliver`)
    expect([status, body]).toMatchObject([
      200,
      { id: first.id, status: 'pending', attempt_count: 1, delivered_at: null, response_body: null },
    ])
    await untilDelivery((delivery) => delivery.status === 'delivered' && delivery.attempt_count === 2)
    const [one, other] = receiver.received
    expect([other!.headers['webhook-id'], other!.body]).toEqual([one!.headers['webhook-id'], one!.body])
  })

  test('a redelivery during an attempt that fails is sent at once all the same', async () => {
    const { id } = (await failOnce()).first
    receiver.behaviour = async (_, response) => {
      receiver.behaviour = undefined
      await ask('POST', `/v1/webhooks/deliveries/${id}/redeliver`)
      response.writeHead(500).end()
    }
    // By its own schedule the attempt after this one is hours away.
    await stores.pg.query('UPDATE webhook_deliveries SET retry_step = 5, next_attempt_at = now() WHERE id = $1', [id])
    await untilDelivery(({ status }) => status === 'delivered')
    expect(receiver.received).toHaveLength(3)
  })

  test('a redelivery while an attempt is recorded follows it, and both are done', async () => {
    const { endpointId, first } = await failOnce()
    await stores.pg.query(`UPDATE webhook_endpoints SET held_until = now() + interval '1 hour' WHERE id = $1`, [
      endpointId,
    ])
    receiver.behaviour = undefined
    let asked: ReturnType<typeof redeliverByHand> | undefined
    // Begins when the delivery is recorded and the endpoint is not yet.
    const between = async <Row>(rows: Promise<Row[]>) => {
      const answer = await rows
      if (asked === undefined) {
        asked = redeliverByHand(first.id)
        await untilWaiting()
      }
      return answer
    }
    const pg: Postgres = {
      ...stores.pg,
      transaction: (work) =>
        stores.pg.transaction((tx) => work({ query: (sql, params) => between(tx.query(sql, params)) })),
    }
    const attempt = failedAttempt({ deliveryId: first.id, attemptsBefore: 1, retryStep: 1 })
    await recordAttempts(pg, turnOf(endpointId), [attempt], 60_000)
    expect((await asked!).status).toBe(200)
    expect(await untilDelivery(({ status }) => status === 'delivered')).toMatchObject({ attempt_count: 3 })
  })

  test('a delivery whose record goes meanwhile is not found', async () => {
    const { first } = await failOnce()
    let asked: ReturnType<typeof redeliverByHand> | undefined
    await stores.pg.transaction(async (tx) => {
      await tx.query('DELETE FROM webhook_deliveries WHERE id = $1', [first.id])
      asked = redeliverByHand(first.id)
      await untilWaiting()
    })
    expect(await asked).toEqual({ status: 404, body: { detail: 'Webhook delivery not found' } })
  })

  test.each([
    ['deletes old records', 200, () => deleteOldDeliveries(stores.pg, Date.now() + 60_000, 1_000)],
    [
      'ends what a disabled endpoint waits for',
      500,
      (id: number) => failPending(stores.pg, { ...turnOf(id), state: 'disabled' }, 10),
    ],
  ])('what is redelivered while the pipeline %s is sent all the same', async (_, status, sweep) => {
    const { id: endpointId } = await register(receiver.url)
    answer(status)
    await makeLink()
    const { id } = await afterAttempts(1)
    receiver.behaviour = undefined
    let swept: Promise<number> | undefined
    await stores.pg.transaction(async (tx) => {
      await redeliver(tx, endpointId, id)
      swept = sweep(endpointId)
      await untilWaiting()
    })
    await swept
    const [kept] = await deliveries()
    expect([kept?.id, kept?.error === 'The endpoint is disabled']).toEqual([id, false])
    await untilDelivery((delivery) => delivery.status === 'delivered' && delivery.attempt_count > 1)
  })
})

test('several pipelines send each event once', async () => {
  const others = [startTestSender(stores), startTestSender(stores)]
  await register(`${receiver.url}/one`)
  await register(`${receiver.url}/two`)
  await Promise.all(Array.from({ length: 12 }, (_, at) => makeLink(`Link ${at}`)))
  await vi.waitUntil(async () => {
    const all = await deliveries()
    return all.length === 24 && all.every(({ status }) => status === 'delivered')
  }, patience)
  const received = receiver.received.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)
  expect([received.length, new Set(received).size]).toEqual([24, 24])
  await Promise.all(others.map((sender) => sender.close()))
})

test('an event that was erased before it could be sent ends its delivery, and can not be sent again', async () => {
  const { id, event_id } = (await failOnce()).first
  await stores.pg.query('DELETE FROM outbox WHERE event_id = $1', [event_id])
  await hurry(id)
  const error = 'The event is no longer kept'
  expect(await untilDelivery(({ status }) => status === 'failed')).toMatchObject({ error })
  expect(await ask('POST', `/v1/webhooks/deliveries/${id}/redeliver`)).toEqual({ status: 409, body: { detail: error } })
})

test('what a receiver answers to an event that is erased meanwhile is not kept', async () => {
  await register(receiver.url)
  receiver.behaviour = async ({ headers }, response) => {
    const eventId = headers['webhook-id']
    await forgetOutbox(stores.pg, mine.workspaceId, 'event_id = $2', [eventId])
    response.writeHead(200).end('hello ann@example.com')
  }
  await makeLink()
  expect(await untilDelivery(({ status }) => status === 'delivered')).toMatchObject({
    attempt_count: 1,
    response_status: 200,
    response_body: null,
  })
})
