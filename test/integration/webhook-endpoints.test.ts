/** Webhook endpoints as they are registered, listed and deleted. */
import { describe, expect, test } from 'vitest'
import { webhookEndpointsMax, webhookEventsMax } from '../../schemas/limits/api-limits.ts'
import { webhookEventTypes } from '../../schemas/webhook-events.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()

const ask = (method: string, path: string, body?: unknown) => asking(api, () => mine.apiKey)(method, path, body)
const url = 'https://example.com/hooks'
const register = (more: object = {}) => ask('POST', '/v1/webhooks', { url, ...more })

describe('registering', () => {
  test('answers the endpoint with all events where none is named, and its secret this once', async () => {
    const { status, body } = await register()
    expect([status, body]).toEqual([
      200,
      {
        id: expect.any(Number),
        object_id: `webhook_endpoint_${body.id}`,
        url,
        events: [...webhookEventTypes],
        description: '',
        status: 'enabled',
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: body.created_at,
      },
    ])
    const { secret, ...shown } = body
    const listed = await ask('GET', '/v1/webhooks')
    expect(listed.body).toEqual([shown])
    const sql = 'SELECT secret FROM webhook_endpoints WHERE id = $1'
    const [kept] = await stores.pg.query<{ secret: Buffer }>(sql, [body.id])
    expect(kept!.secret.includes(secret)).toBe(false)
    expect(stores.box.open(kept!.secret)).toBe(secret)
  })

  test('names the events once each, in the order in which they were sent', async () => {
    const { body } = await register({ events: ['post.failed', 'post.created', 'post.failed'], description: 'Chat' })
    expect(body).toMatchObject({ events: ['post.failed', 'post.created'], description: 'Chat' })
  })

  test.each([
    [{ url: `https://example.com/${'x'.repeat(2028)}`, description: '😀'.repeat(500) }, 200, undefined],
    [{ url: `https://example.com/${'x'.repeat(2029)}` }, 422, 'string_too_long'],
    // Plain http is for development alone.
    [{ url: 'http://example.com/' }, 422, 'value_error'],
    [{ url: 'example.com/hooks' }, 422, 'value_error'],
    [{ url: 'ftp://example.com/' }, 422, 'value_error'],
    [{ url: 'https://me@example.com/' }, 422, 'value_error'],
    [{ url: ' https://example.com/' }, 422, 'value_error'],
    [{ url: 'https://example.com/\n' }, 422, 'value_error'],
    [{ url: 'https://exam\tple.com/' }, 422, 'value_error'],
    [{ description: 'x'.repeat(501) }, 422, 'string_too_long'],
    [{ events: [] }, 422, 'too_short'],
    [{ events: Array.from({ length: webhookEventsMax + 1 }, () => 'post.created') }, 422, 'too_long'],
    [{ events: ['post.created', 'post.deleted'] }, 422, 'enum'],
  ])('%j: %i %s', async (sent, status, type) => {
    const { status: answered, body } = await register(sent)
    expect([answered, body.detail?.[0].type]).toEqual([status, type])
  })

  test(`takes ${webhookEndpointsMax} of a workspace, also where several come at once for the last place`, async () => {
    await stores.pg.query(
      `INSERT INTO webhook_endpoints (workspace_id, url, events, secret)
       SELECT $1, 'https://example.com/' || n, '{}', '' FROM generate_series(1, $2::int) AS n`,
      [mine.workspaceId, webhookEndpointsMax - 1],
    )
    const answers = await Promise.all(Array.from({ length: 8 }, () => register()))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    const made = answers.find(({ status }) => status === 200)!.body.id
    expect((await ask('DELETE', `/v1/webhooks/${made}`)).status).toBe(200)
    expect((await register()).status).toBe(200)
  })
})

test('what is deleted is in no list, and can not be deleted again', async () => {
  const { id } = (await register()).body
  expect((await ask('DELETE', `/v1/webhooks/webhook_endpoint_${id}`)).body).toMatchObject({ id, status: 'disabled' })
  expect((await ask('GET', '/v1/webhooks')).body).toEqual([])
  expect(await ask('DELETE', `/v1/webhooks/${id}`)).toEqual({
    status: 404,
    body: { detail: 'Webhook endpoint not found' },
  })
})
