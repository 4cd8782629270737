import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeKey, setUpApi } from '../support/api.ts'
import { callTool } from '../support/mcp.ts'
import { setUpMembers } from '../support/members.ts'
import { makeAccount } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const { makeMember } = setUpMembers({ stores, api })

const valid = { url: 'https://example.com/hook' }

function post(body: unknown, idempotencyKey: string, key = mine.apiKey): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey }
  return api.ask('/v1/webhooks', { method: 'POST', key, headers, body: JSON.stringify(body) })
}

async function counts() {
  const [row] = await stores.pg.query<{ endpoints: number; audits: number; records: number }>(
    `SELECT (SELECT count(*) FROM webhook_endpoints WHERE workspace_id = $1) AS endpoints,
       (SELECT count(*) FROM audit_events WHERE workspace_id = $1) AS audits,
       (SELECT count(*) FROM idempotency_records WHERE workspace_id = $1) AS records`,
    [mine.workspaceId],
  )
  return row!
}

test("an answer with a secret is repeated for the same member alone, by any of that one's keys", async () => {
  const reused = { detail: 'Idempotency-Key was used with a different request' }
  const [one, another] = [await makeMember(mine, 'admin'), await makeMember(mine, 'admin')]
  for (const [path, body] of [
    ['/api-keys', { name: 'a', scopes: ['links:read'] }],
    ['/shared-links', { name: 'a' }],
    ['/invitations', { email: 'new@example.com', role: 'viewer' }],
    ['/webhooks', valid],
  ] as const) {
    const headers = { 'Idempotency-Key': randomUUID() }
    const first = await one.ask('POST', path, body, headers)
    expect([path, first.status]).toEqual([path, 200])
    expect(await another.ask('POST', path, body, headers)).toEqual({ status: 409, body: reused })
    expect(await one.ask('POST', path, body, headers)).toEqual(first)
    if (path !== '/webhooks') continue
    const rotated = await makeKey(stores, mine.workspaceId, { ownerId: one.id })
    expect(await post(body, headers['Idempotency-Key'], rotated.apiKey).then((answer) => answer.json())).toEqual(
      first.body,
    )
  }
})

test('a repeat is for whoever may do the same, and a refusal of the caller is not kept', async () => {
  const account = await makeAccount(stores, mine.workspaceId, 'x')
  const draft = { title: 'T', base_caption: 'C', social_account_ids: [account] }
  const [contributor, editor] = [await makeMember(mine, 'contributor'), await makeMember(mine, 'editor')]
  const { id } = (await editor.ask('POST', '/posts', draft)).body
  const scheduled_at = new Date(Date.now() + 86_400_000).toISOString()
  expect((await editor.ask('POST', `/posts/${id}/schedule`, { scheduled_at })).status).toBe(200)
  const headers = { 'Idempotency-Key': randomUUID() }
  const archive = ({ ask }: typeof editor) => ask('POST', `/posts/${id}/archive`, undefined, headers)
  const refused = { status: 403, body: { detail: 'Your role in the workspace does not allow this' } }
  expect(await archive(contributor)).toEqual(refused)
  const first = await archive(editor)
  expect(first.status).toBe(200)
  expect(await archive(contributor)).toEqual(refused)
  const { apiKey } = await makeKey(stores, mine.workspaceId, { scopes: ['posts:write'], ownerId: editor.id })
  const rotated = await api.ask(`/v1/posts/${id}/archive`, { method: 'POST', key: apiKey, headers })
  expect([rotated.headers.get('idempotent-replayed'), await rotated.json()]).toEqual(['true', first.body])
})

test('what means the same under a key is done once, by either interface and any API key, and what means something else is 409', async () => {
  const key = randomUUID()
  const post = { title: 'A', base_caption: 'B', tags: ['c'], scheduled_at: '2030-07-01T09:00:00Z' }
  const { result } = await callTool(api, mine.apiKey, 'svc.create_post', { ...post, idempotency_key: key })
  const other = await makeKey(stores, mine.workspaceId)
  const send = async (body: object, apiKey = mine.apiKey) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const answer = await api.ask('/v1/posts', { method: 'POST', key: apiKey, headers, body: JSON.stringify(body) })
    return [answer.status, await answer.json()]
  }
  // In another order, too.
  const same = { unknown: true, scheduled_at: 1_909_126_800, tags: ['#c', 'c'], base_caption: 'B', title: 'A' }
  for (const apiKey of [mine.apiKey, other.apiKey]) {
    expect(await send(same, apiKey)).toEqual([200, result!.structuredContent])
  }
  const again = await callTool(api, mine.apiKey, 'svc.create_post', { ...same, idempotency_key: key })
  expect(again.result?.structuredContent).toEqual(result!.structuredContent)
  const spelled = { media_ids: [], social_account_ids: [], platform_captions: {}, thread: [] }
  expect(await send({ ...post, ...spelled })).toEqual([200, result!.structuredContent])
  for (const changed of [
    { title: 'C' },
    { tags: [] },
    { scheduled_at: null },
    { scheduled_at: '2030-07-01T09:00:00' },
  ]) {
    expect((await send({ ...post, ...changed }))[0]).toBe(409)
  }
})

test('refusals of the operation itself are kept, those before it are not', async () => {
  const key = randomUUID()
  const gone = () =>
    api.ask('/v1/webhooks/999999', { method: 'DELETE', key: mine.apiKey, headers: { 'Idempotency-Key': key } })
  const first = await gone()
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([404, null])
  const again = await gone()
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([404, 'true'])
  expect(await again.json()).toEqual(await first.json())
  expect(await counts()).toEqual({ endpoints: 0, audits: 0, records: 1 })

  const invalid = randomUUID()
  expect((await post({}, invalid)).status).toBe(422)
  expect((await post(valid, invalid)).status).toBe(200)
})

test.each([
  ['', 'string_too_short'],
  ['x'.repeat(256), 'string_too_long'],
])('the key %s is 422 %s', async (idempotencyKey, type) => {
  const answer = await post(valid, idempotencyKey)
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ detail: [{ type, loc: ['header', 'idempotency-key'] }] })
  expect(await counts()).toMatchObject({ endpoints: 0 })
})

test('stored answers can not be read from a copy of the database', async () => {
  const { secret } = (await (await post(valid, randomUUID())).json()) as { secret: string }
  const rows = await stores.pg.query<{ body: Buffer; secret: Buffer }>(
    'SELECT body, (SELECT secret FROM webhook_endpoints WHERE workspace_id = $1) FROM idempotency_records WHERE workspace_id = $1',
    [mine.workspaceId],
  )
  for (const { body, secret: stored } of rows) {
    for (const bytes of [body, stored]) {
      expect(bytes.includes(secret)).toBe(false)
      expect(bytes.includes(secret.slice('whsec_'.length, 20))).toBe(false)
    }
  }
  expect(rows).toHaveLength(1)
})
