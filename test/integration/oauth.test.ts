/** Apps that sign in by OAuth: the whole way as the official client goes it, what ends it, and who is kept out. */
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { expect, test } from 'vitest'
import { expireApps } from '../../pipeline/retention/expire-apps.ts'
import { beginConnection } from '../../postgres/tables/members/connected-apps.ts'
import { appendSystemChange, listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { apiKeyCacheMs } from '../../schemas/limits/api-limits.ts'
import {
  accessTokenMs,
  authorizationCodeMs,
  clientsMax,
  clientUnusedMs,
  connectedAppsOfMemberMax,
  refreshRepeatMs,
  refreshTokenMs,
  registrationsOfAddressMax,
} from '../../schemas/limits/oauth-limits.ts'
import { makeWorkspace, setUpApi, testApiHost } from '../support/api.ts'
import { jobContext } from '../support/job-context.ts'
import { callTool } from '../support/mcp.ts'
import { fromOwnPage, setUpMembers } from '../support/members.ts'
import { callback, setUpApps, type Tokens } from '../support/oauth.ts'
import { countWaiting, untilWaitingOrEnded } from '../support/waiting-for-locks.ts'

const clock = fixedClock(Date.now())
const { stores, api, mine } = setUpApi({ clock })
const { makeMember, signInOwner, askAs } = setUpMembers({ stores, api, now: clock.now })
const apps = setUpApps(api, testApiHost)

const forgetKeys = () => clock.advance(apiKeyCacheMs)
/** The status of a tool, and the code of its error. */
async function asks(token: string, tool = 'svc.get_workspace', args = {}) {
  const { status, error, result } = await callTool(api, token, tool, args)
  return [status, error?.code ?? result?.isError ?? null]
}
const errorOf = async (answer: Response) => [answer.status, ((await answer.json()) as { error: string }).error]

/** Reaches the API under its public name. */
const viaApi: typeof fetch = (url, init) => fetch(String(url).replace(testApiHost, api.url), init)

interface Kept {
  readonly went: URL[]
  readonly client?: OAuthClientInformationMixed
  readonly tokens?: Tokens
  readonly verifier?: string
}

/** Keeps things as an app does, in memory. */
function makeProvider() {
  const kept: Kept = { went: [] }
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: { client_name: 'SDK', redirect_uris: [callback] },
    state: () => 'state-1',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens as OAuthTokens | undefined,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (url) => void kept.went.push(url),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier!,
    invalidateCredentials: () => void Reflect.deleteProperty(kept, 'tokens'),
  }
  return { kept, provider }
}

test('the official client finds its way from a 401 to tools, refreshes by itself, and is out once it is revoked', async () => {
  const { cookie, id, email } = await makeMember(mine, 'editor')
  const { kept, provider } = makeProvider()
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${testApiHost}/mcp`), { authProvider: provider, fetch: viaApi })
  const first = transport()
  await expect(new Client({ name: 'sdk', version: '1' }).connect(first as never)).rejects.toThrow('Unauthorized')
  const [asked] = kept.went
  expect(asked!.href).toContain(`${testApiHost}/dashboard/authorize?response_type=code`)

  const signIn = await api.ask(asked!.pathname + asked!.search)
  const next = new URL(signIn.headers.get('location')!, testApiHost).searchParams.get('next')
  expect([signIn.status, next]).toEqual([303, asked!.pathname + asked!.search])
  const back = await apps.consent(cookie, asked!.searchParams)
  expect(back.href.startsWith(`${callback}?`)).toBe(true)
  const { code, ...rest } = Object.fromEntries(back.searchParams)
  expect(rest).toEqual({ state: 'state-1', iss: testApiHost })

  await first.finishAuth(code!)
  const client = new Client({ name: 'sdk', version: '1' })
  await client.connect(transport() as never)
  expect((await client.listTools()).tools.length).toBeGreaterThan(20)
  const { tokens } = kept
  // Reading was chosen beforehand, and no more than the role has.
  expect(tokens!.scope.split(' ')).toEqual([
    'workspace:read',
    'profile:read',
    'accounts:read',
    'media:read',
    'posts:read',
    'links:read',
    'analytics:read',
    'replays:read',
  ])
  const link = { label: 'x', destination_url: 'https://example.com/' }
  expect(await asks(tokens!.access_token, 'svc.create_link', link)).toEqual([200, -32003])

  clock.advance(accessTokenMs)
  await client.listTools()
  expect([kept.tokens!.access_token === tokens!.access_token, kept.went.length]).toEqual([false, 1])
  const [, ...stored] = await Promise.all(
    ['SELECT 1', 'SELECT * FROM api_keys', 'SELECT * FROM connected_apps'].map((sql) => stores.pg.query(sql)),
  )
  for (const secret of [code!, kept.tokens!.access_token, ...kept.tokens!.refresh_token.split('.')]) {
    expect(JSON.stringify(stored)).not.toContain(secret)
  }
  const [consented] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(consented).toMatchObject({
    action: 'member.connect_app',
    actor_id: id,
    actor_name: email,
    interface: 'console',
  })

  const revoked = { token: kept.tokens!.refresh_token, client_id: asked!.searchParams.get('client_id')! }
  for (const client_id of ['\0', 'x'.repeat(43)]) {
    expect((await apps.post('/oauth/revoke', { ...revoked, client_id })).status).toBe(200)
  }
  forgetKeys()
  expect((await asks(kept.tokens!.access_token))[0]).toBe(200)
  expect((await apps.post('/oauth/revoke', revoked)).status).toBe(200)
  const [signedOut] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(signedOut).toMatchObject({ action: 'connected_app.sign_out', actor_type: 'system' })
  forgetKeys()
  await expect(client.listTools()).rejects.toThrow('Unauthorized')
  expect(kept.went.length).toBe(2)
  expect(await auth(provider, { serverUrl: `${testApiHost}/mcp`, fetchFn: viaApi })).toBe('REDIRECT')
})

test('metadata, challenges and answers say what the standards name', async () => {
  const challenge = `Bearer resource_metadata="${testApiHost}/.well-known/oauth-protected-resource/mcp"`
  for (const [key, header] of [
    [undefined, challenge],
    ['svc_at_x', `${challenge}, error="invalid_token"`],
  ] as const) {
    const answer = await api.ask('/mcp', { key, method: 'POST', body: '{}' })
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, header])
  }
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
    expect(await (await api.ask(path)).json()).toMatchObject({
      resource: `${testApiHost}/mcp`,
      authorization_servers: [testApiHost],
    })
  }
  expect(await (await api.ask('/.well-known/oauth-authorization-server')).json()).toMatchObject({
    issuer: testApiHost,
    token_endpoint: `${testApiHost}/oauth/token`,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
  })
  const statuses = ['/oauth/token', '/oauth/register', '/.well-known/oauth-authorization-server'].map((path, index) =>
    api.ask(path, { method: index < 2 ? 'GET' : 'POST' }),
  )
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([405, 405, 405])
  for (const path of ['/oauth/token', '/oauth/register', '/.well-known/oauth-protected-resource/mcp']) {
    const asked = await api.ask(path, { method: 'OPTIONS' })
    const answer = path.startsWith('/oauth') ? await apps.post(path, {}) : await api.ask(path)
    const allowed = [asked, answer].map(({ headers }) => headers.get('access-control-allow-origin'))
    expect([asked.status, ...allowed]).toEqual([204, '*', '*'])
  }
  const slashes = ['oauth/token', '.well-known/oauth-authorization-server', '.well-known/oauth-protected-resource/mcp']
  for (const path of slashes) {
    const { status, headers } = await api.ask(`/${path}/?a=1`)
    expect([status, headers.get('location')]).toEqual([307, `/${path}?a=1`])
  }
})

test('an app acts as its member: by its role as it is now, for MCP alone, until the member goes', async () => {
  const { id, cookie, ask } = await makeMember(mine, 'editor')
  const owner = await signInOwner(mine)
  const app = await apps.connect(cookie, ['links:write', 'webhooks:write'])
  expect(app.scope.split(' ').filter((scope) => scope.endsWith(':write'))).toEqual(['links:write'])
  const link = (label: string) => ({ label, destination_url: 'https://example.com/' })
  expect(await asks(app.access_token, 'svc.create_link', link('a'))).toEqual([200, null])
  const { body: listed } = await ask<{ id: number; name: string; target: string }[]>('GET', '/connected-apps')
  expect(listed).toMatchObject([{ name: 'Helper', target: 'app.example', last_used_at: expect.any(String) }])
  const [made] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
  expect(made).toMatchObject({
    action: 'link.create',
    actor_type: 'api_key',
    actor_id: listed[0]!.id,
    interface: 'mcp',
  })
  const byRest = await api.ask('/v1/workspace', { key: app.access_token })
  expect([byRest.status, byRest.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])

  await owner('PATCH', `/members/${id}`, { role: 'viewer' })
  forgetKeys()
  expect(await asks(app.access_token, 'svc.create_link', link('b'))).toEqual([200, -32003])
  await stores.pg.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [mine.workspaceId])
  forgetKeys()
  expect((await asks(app.access_token))[0]).toBe(403)
  await stores.pg.query('UPDATE workspaces SET suspended_at = NULL WHERE id = $1', [mine.workspaceId])
  await owner('DELETE', `/members/${id}`)
  forgetKeys()
  expect((await asks(app.access_token))[0]).toBe(401)
  expect(await errorOf(await apps.refresh(app, app.refresh_token))).toEqual([400, 'invalid_grant'])

  const other = await makeMember(mine, 'viewer')
  const late = await apps.connect(other.cookie)
  await stores.pg.transaction((tx) => requestDeletion(tx, mine.workspaceId))
  forgetKeys()
  expect((await asks(late.access_token))[0]).toBe(401)
})

test('owner and admins see and end the apps of all, others their own; nobody those of another workspace', async () => {
  const [one, other] = [await makeMember(mine, 'viewer'), await makeMember(mine, 'viewer')]
  const owner = await signInOwner(mine)
  const stranger = await signInOwner(await makeWorkspace(stores))
  const app = await apps.connect(one.cookie)
  const idsOf = async (ask: ReturnType<typeof askAs>) =>
    (await ask<{ id: number }[]>('GET', '/connected-apps')).body.map(({ id }) => id)
  const [id] = await idsOf(one.ask)
  expect([await idsOf(owner), await idsOf(other.ask), await idsOf(stranger)]).toEqual([[id], [], []])
  const end = async (ask: ReturnType<typeof askAs>) => (await ask('DELETE', `/connected-apps/${id}`)).status
  expect([await end(other.ask), await end(stranger)]).toEqual([404, 404])
  // It is no key of the list of keys.
  expect([(await owner('DELETE', `/api-keys/${id}`)).status, await asks(app.access_token)]).toEqual([404, [200, null]])
  expect(await end(owner)).toBe(200)
  forgetKeys()
  expect([(await asks(app.access_token))[0], await idsOf(owner)]).toEqual([401, []])
})

test('a code is worth nothing with anything else than its app has, or for another app, and still works for its own', async () => {
  const { cookie } = await makeMember(mine, 'viewer')
  const app = await apps.makeApp()
  const code = (await apps.consent(cookie, app.asked)).searchParams.get('code')!
  for (const [more, error] of [
    [{ code_verifier: 'v'.repeat(43) }, 'invalid_grant'],
    [{ code_verifier: '' }, 'invalid_request'],
    [{ redirect_uri: `${callback}/` }, 'invalid_grant'],
    [{ resource: 'https://else.example/mcp' }, 'invalid_target'],
    [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    [{ code: 'c'.repeat(43) }, 'invalid_grant'],
  ] as [Record<string, string>, string][]) {
    expect([more, await errorOf(await apps.exchange(app, code, more))]).toEqual([more, [400, error]])
  }
  expect(await errorOf(await apps.exchange({ ...app, clientId: '\0' }, code))).toEqual([401, 'invalid_client'])
  const stranger = await apps.makeApp()
  expect(await errorOf(await apps.exchange({ ...app, clientId: stranger.clientId }, code))).toEqual([
    400,
    'invalid_grant',
  ])
  expect((await apps.exchange(app, code)).status).toBe(200)
})

test('a code works once and for a minute; a code or former refresh token that comes again ends the connection', async () => {
  const { cookie } = await makeMember(mine, 'viewer')
  const twice = await apps.connect(cookie)
  expect(await errorOf(await apps.exchange(twice, twice.code))).toEqual([400, 'invalid_grant'])
  forgetKeys()
  expect((await asks(twice.access_token))[0]).toBe(401)

  const late = await apps.makeApp()
  const code = (await apps.consent(cookie, late.asked)).searchParams.get('code')!
  clock.advance(authorizationCodeMs)
  expect(await errorOf(await apps.exchange(late, code))).toEqual([400, 'invalid_grant'])

  const app = await apps.connect(cookie)
  const stranger = await apps.makeApp()
  expect(await errorOf(await apps.refresh(stranger, app.refresh_token))).toEqual([400, 'invalid_grant'])
  const second = (await (await apps.refresh(app, app.refresh_token)).json()) as Tokens
  forgetKeys()
  expect([(await asks(app.access_token))[0], (await asks(second.access_token))[0]]).toEqual([401, 200])
  // Its answer may have been lost: for a minute it gives the same.
  expect(await (await apps.refresh(app, app.refresh_token)).json()).toEqual({
    ...second,
    expires_in: second.expires_in - apiKeyCacheMs / 1000,
  })
  clock.advance(refreshRepeatMs)
  expect(await errorOf(await apps.refresh(app, app.refresh_token))).toEqual([400, 'invalid_grant'])
  forgetKeys()
  expect((await asks(second.access_token))[0]).toBe(401)
  expect(await errorOf(await apps.refresh(app, second.refresh_token))).toEqual([400, 'invalid_grant'])
  const ended = await listAuditEvents(stores.pg, mine.workspaceId, { action: 'connected_app.end_reused', limit: 9 })
  expect(ended.map(({ actor_type }) => actor_type)).toEqual(['system', 'system'])

  // Two at once get the same. One from before both is too old.
  const raced = await apps.connect(cookie)
  const refreshed = async ({ refresh_token }: Tokens) => (await apps.refresh(raced, refresh_token)).json()
  const [one, same] = (await Promise.all([refreshed(raced), refreshed(raced)])) as Tokens[]
  expect([one!.scope, same]).toEqual([raced.scope, one])
  await refreshed(one!)
  expect(await errorOf(await apps.refresh(raced, raced.refresh_token))).toEqual([400, 'invalid_grant'])
  expect(await errorOf(await apps.refresh(raced, one!.refresh_token))).toEqual([400, 'invalid_grant'])
  const idle = await apps.connect(cookie)
  clock.advance(refreshTokenMs)
  expect(await errorOf(await apps.refresh(idle, idle.refresh_token))).toEqual([400, 'invalid_grant'])
})

test('a request that is wrong is shown to the person, and leads nowhere by itself', async () => {
  const { cookie } = await makeMember(mine, 'viewer')
  for (const [more, error] of [
    [{ client_id: 'x'.repeat(43) }, undefined],
    [{ redirect_uri: 'https://evil.example/' }, undefined],
    [{ redirect_uri: 'https://app.example/callback/../evil' }, undefined],
    [{ redirect_uri: 'javascript:alert(1)' }, undefined],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ resource: 'https://else.example/mcp' }, 'invalid_target'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ scope: 'openid workspace:own' }, 'invalid_scope'],
  ] as [Record<string, string>, string | undefined][]) {
    const { asked } = await apps.makeApp(more)
    for (const page of [await apps.open(cookie, asked), await apps.send(cookie, asked)]) {
      const text = await page.text()
      const led = ['location', 'refresh'].map((name) => page.headers.get(name))
      expect([more, page.status, ...led]).toEqual([more, 400, null, null])
      expect(text).not.toMatch(/<form|javascript:|evil\.example/)
      expect(/href="https:\/\/app.example\/callback\?error=(\w+)/.exec(text)?.[1]).toBe(error)
    }
  }
})

test('an app that asks for scopes of OpenID Connect alone is offered all that the role has', async () => {
  const { cookie } = await makeMember(mine, 'viewer')
  const offered = async (more: Record<string, string>) => {
    const { asked } = await apps.makeApp(more)
    return (await apps.formOf(await apps.open(cookie, asked))).getAll('scopes')
  }
  const all = await offered({})
  expect(all.length).toBeGreaterThan(3)
  expect(await offered({ scope: 'openid email profile' })).toEqual(all)
  expect(await offered({ scope: 'posts:read offline_access' })).toEqual(['posts:read'])
})

test('consent comes from our own page, of the account that saw it, to a workspace that it is in, once', async () => {
  const [one, other] = [await makeMember(mine, 'viewer'), await makeMember(mine, 'admin')]
  const elsewhere = await makeWorkspace(stores)
  const name = '</strong><script>alert(1)</script>\u202e'
  const state = '"><script>alert(2)</script>'
  const { asked } = await apps.makeApp({ scope: 'posts:read posts:write unknown', state }, { client_name: name })
  const page = await apps.open(one.cookie, asked)
  const shown = await page.clone().text()
  expect(shown).toContain('&lt;/strong&gt;&lt;script&gt;alert(1)&lt;/script&gt;</strong>')
  expect(shown).toContain('app.example')
  expect(shown).not.toContain('<script>')
  // A viewer has no right to write.
  expect(
    [...shown.matchAll(/name="scopes" value="([^"]+)"( checked)?/g)].map(([, scope, on]) => [scope, !!on]),
  ).toEqual([['posts:read', true]])
  const policy = page.headers.get('content-security-policy')
  expect([policy?.includes("frame-ancestors 'none'"), policy?.includes("script-src 'none'")]).toEqual([true, true])

  const form = await apps.formOf(page)
  form.append('answer', 'allow')
  const withField = (field: string, value: string) => {
    const changed = new URLSearchParams(form)
    changed.set(field, value)
    return changed
  }
  const outcome = async (cookie: string, sent: URLSearchParams, headers: Record<string, string> = fromOwnPage) => {
    const answer = await apps.send(cookie, sent, headers)
    return [answer.status, answer.headers.get('refresh')?.includes('code=') ?? false]
  }
  for (const headers of [{}, { 'Sec-Fetch-Site': 'cross-site' }, { Origin: 'https://evil.example' }]) {
    expect(await outcome(one.cookie, form, headers)).toEqual([403, false])
  }
  expect(await outcome('', form)).toEqual([303, false])
  expect(await outcome(other.cookie, form)).toEqual([409, false])
  expect(await outcome(one.cookie, withField('workspace', String(elsewhere.workspaceId)))).toEqual([403, false])
  expect(await outcome(one.cookie, withField('scopes', 'posts:write'))).toEqual([422, false])
  expect(await outcome(one.cookie, form)).toEqual([200, true])
  expect(await outcome(one.cookie, form)).toEqual([409, false])

  const consent = { clientId: 'x', clientName: 'x', redirectUri: callback, challenge: 'x', scopes: ['posts:read'] }
  const late = { ...consent, workspaceId: elsewhere.workspaceId, ownerId: one.id }
  expect(await stores.pg.transaction((tx) => beginConnection(tx, late, clock.now()))).toBe('denied')

  const withTools = await apps.makeApp({ resource: `${testApiHost}/mcp?toolsets=links` })
  const refused = await apps.consent(one.cookie, withTools.asked, 'deny')
  expect(Object.fromEntries(refused.searchParams)).toEqual({ error: 'access_denied', state: 's t&1', iss: testApiHost })
})

test('no app gets into a workspace that is suspended, or that asks for a second factor which the member lacks', async () => {
  const guarded = await makeWorkspace(stores)
  const { cookie } = await makeMember(guarded, 'viewer')
  const { asked } = await apps.makeApp()
  const form = await apps.formOf(await apps.open(cookie, asked))
  form.append('answer', 'allow')
  const set = (change: string) =>
    stores.pg.query(`UPDATE workspaces SET ${change} WHERE id = $1`, [guarded.workspaceId])
  const outcomes = async () => {
    const answers = [await apps.open(cookie, asked), await apps.send(cookie, form)]
    return answers.map(({ status, headers }) => [status, headers.get('location') ?? headers.get('refresh')])
  }
  await set('second_factor_required = true')
  const next = `/dashboard/authorize?${asked}&workspace=${guarded.workspaceId}`
  const toFactor = `/dashboard/second-factor?${new URLSearchParams({ next })}`
  expect(await outcomes()).toEqual(Array(2).fill([303, toFactor]))
  expect(await (await api.ask(toFactor, { headers: { cookie } })).text()).toContain(
    `name="next" value="${next.replaceAll('&', '&amp;')}"`,
  )
  await set('second_factor_required = false, suspended_at = now()')
  const [shown, sent] = await outcomes()
  expect([shown, sent![1]]).toEqual([[400, null], null])
  await set('suspended_at = NULL')
  expect((await outcomes())[1]![1]).toContain('code=')
})

test('registrations: which addresses, how many, and for how long', async () => {
  const uris = ['http://localhost:1/a', 'cursor://anysphere.cursor-mcp/oauth/callback', 'com.example.app:/back']
  const others = [
    'http://app.example/',
    'javascript:alert(1)',
    'ms-msdt:/x',
    'https://u:p@a.example/',
    'https://a.example/#x',
    'https:connect?state=x',
    'http:/localhost/x',
  ]
  const answer = await apps.register({
    redirect_uris: [...uris, ...others],
    token_endpoint_auth_method: 'client_secret_post',
  })
  const made = (await answer.json()) as { client_id: string }
  expect([answer.status, made]).toMatchObject([201, { redirect_uris: uris, token_endpoint_auth_method: 'none' }])
  for (const described of [
    {},
    { redirect_uris: others },
    { redirect_uris: 'x' },
    { redirect_uris: Array(21).fill(callback) },
  ]) {
    expect(await errorOf(await apps.register(described))).toEqual([400, 'invalid_redirect_uri'])
  }
  const grants = { redirect_uris: uris, grant_types: ['client_credentials'] }
  expect(await errorOf(await apps.register(grants))).toEqual([400, 'invalid_client_metadata'])
  expect((await apps.register({ redirect_uris: uris, client_name: 'x'.repeat(20_000) })).status).toBe(413)

  const { cookie } = await makeMember(mine, 'viewer')
  const ask = async (redirect_uri: string) => {
    const { asked } = await apps.makeApp({ client_id: made.client_id, redirect_uri })
    return (await apps.open(cookie, asked)).status
  }
  // The port of an app on the own machine is whichever is free.
  expect([await ask('http://localhost:54321/a'), await ask('http://localhost/a')]).toEqual([200, 200])
  expect([await ask('http://localhost:1/b'), await ask('http://127.0.0.1:1/a')]).toEqual([400, 400])
  expect(await ask('http://localhost:1@evil.example/a')).toBe(400)
  clock.advance(clientUnusedMs)
  expect([await ask(uris[0]!), await errorOf(await apps.refresh({ clientId: made.client_id }, 'x'))]).toEqual([
    400,
    [401, 'invalid_client'],
  ])

  const from = { 'X-Forwarded-For': '192.0.2.77' }
  const many = Array.from({ length: registrationsOfAddressMax }, () => apps.register({}, from))
  expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([400]))
  const tooMany = await apps.register({}, from)
  expect([tooMany.status, Number(tooMany.headers.get('retry-after')) > 0]).toEqual([429, true])
})

test('a full table of apps forgets those that nobody uses, and no app with a connection', async () => {
  const { cookie } = await makeMember(mine, 'viewer')
  const used = await apps.connect(cookie)
  await stores.pg.query('DELETE FROM oauth_clients WHERE id <> $1', [used.clientId])
  await stores.pg.query('UPDATE oauth_clients SET expires_at = $1', [new Date(clock.now() + 1)])
  const fresh = await apps.makeApp()
  // Somebody consents to any number, and keeps no connection of them.
  await stores.pg.query(
    `INSERT INTO oauth_clients (id, name, redirect_uris, created_at, consented_at, expires_at)
     SELECT 'x' || n, 'x', '{}', $1, $1, $2 FROM generate_series(1, $3 - (SELECT count(*) FROM oauth_clients)) n`,
    [new Date(clock.now()), new Date(clock.now() + 1), clientsMax],
  )
  const made = [await apps.makeApp()]
  await stores.pg.query('UPDATE oauth_clients SET consented_at = coalesce(consented_at, created_at)')
  made.push(await apps.makeApp())
  const ids = [used, fresh, ...made].map(({ clientId }) => clientId)
  const kept = await stores.pg.query<{ id: string }>('SELECT id FROM oauth_clients WHERE id = ANY($1)', [ids])
  expect(ids.map((id) => kept.some((one) => one.id === id))).toEqual([true, false, true, true])
  await stores.pg.query("DELETE FROM oauth_clients WHERE id LIKE 'x%' AND name = 'x'")
})

test('an app that is consented to while a full table forgets one is known afterwards, or the person is told', async () => {
  const { cookie } = await makeMember(mine, 'viewer')
  await stores.pg.query('DELETE FROM oauth_clients')
  const app = await apps.makeApp()
  const form = await apps.open(cookie, app.asked)
  await stores.pg.query(
    `INSERT INTO oauth_clients (id, name, redirect_uris, created_at, consented_at, expires_at)
     SELECT 'x' || n, 'x', '{}', $1, $1, $2 FROM generate_series(2, $3) n`,
    [new Date(clock.now()), new Date(clock.now() + clientUnusedMs), clientsMax],
  )
  await stores.pg.query('UPDATE oauth_clients SET expires_at = $2 WHERE id = $1', [
    app.clientId,
    new Date(clock.now() + 1),
  ])
  const answers = await stores.pg.transaction(async (tx) => {
    // A consent is written up to its audit row, for which it waits.
    await appendSystemChange(tx, { ...heldChain, workspaceId: mine.workspaceId })
    const consented = apps.send(cookie, allowed(await apps.formOf(form)))
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    const made = apps.makeApp()
    await untilWaitingOrEnded(stores.pg, made, 2)
    return { consented, made }
  })
  const code = new URL((await answers.consented).headers.get('refresh')!.replace('0;url=', '')).searchParams.get(
    'code',
  )!
  const forgotten = await answers.made
  expect((await apps.exchange(app, code)).status).toBe(200)
  expect((await apps.refresh(app, 'x')).status).toBe(400)

  const lateForm = await apps.open(cookie, forgotten.asked)
  const late = await stores.pg.transaction(async (tx) => {
    await tx.query('DELETE FROM oauth_clients WHERE id = $1', [forgotten.clientId])
    const sent = apps.send(cookie, allowed(await apps.formOf(lateForm)))
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    return [sent]
  })
  const told = await late[0]!
  expect([told.status, await told.text()]).toEqual([400, expect.stringContaining('doesn’t know this app')])
  expect(await stores.pg.query('SELECT FROM connected_apps WHERE client_id = $1', [forgotten.clientId])).toEqual([])
  await stores.pg.query("DELETE FROM oauth_clients WHERE id LIKE 'x%' AND name = 'x'")
})

const heldChain = { actorName: 'svc', action: 'workspace.update', resourceId: null, metadata: {} } as const

function allowed(form: URLSearchParams): URLSearchParams {
  form.append('answer', 'allow')
  return form
}

/** As many connections as a member may have, with one that there is. */
async function fillConnections(memberId: number) {
  await stores.pg.query(
    `WITH k AS (INSERT INTO api_keys (workspace_id, owner_id, name, prefix, scopes, expires_at)
       SELECT $1, $2, 'x', '', '{}', $4 FROM generate_series(2, $3::int) RETURNING id)
     INSERT INTO connected_apps (api_key_id, client_id, redirect_uri, code_challenge, code_hash, code_expires_at)
     SELECT id, 'x', 'x', id::text, decode(md5(id::text), 'hex'), now() FROM k`,
    [mine.workspaceId, memberId, connectedAppsOfMemberMax, new Date(clock.now() + refreshTokenMs)],
  )
}

test('a member’s oldest app makes room, and ended ones and old registrations are deleted', async () => {
  const { cookie, id } = await makeMember(mine, 'viewer')
  const first = await apps.connect(cookie)
  const count = async () => {
    const [row] = await stores.pg.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM connected_apps JOIN api_keys ON id = api_key_id WHERE owner_id = $1',
      [id],
    )
    return row!.n
  }
  await fillConnections(id)
  expect(await count()).toBe(connectedAppsOfMemberMax)
  const last = await apps.connect(cookie)
  const [{ metadata }] = (await stores.pg.query(
    "SELECT metadata FROM audit_events WHERE action = 'member.connect_app' ORDER BY id DESC LIMIT 1",
  )) as [{ metadata: object }]
  expect(metadata).toMatchObject({ ended_connected_app_ids: [expect.any(Number)] })
  const again = await apps.formOf(await apps.open(cookie, last.asked))
  again.append('answer', 'allow')
  expect((await apps.send(cookie, again)).status).toBe(409)
  forgetKeys()
  expect([await count(), (await asks(first.access_token))[0], (await asks(last.access_token))[0]]).toEqual([
    connectedAppsOfMemberMax,
    401,
    200,
  ])
  await stores.pg.query("UPDATE api_keys SET revoked_at = now() WHERE owner_id = $1 AND name = 'x'", [id])
  await stores.pg.query("UPDATE oauth_clients SET expires_at = now() - interval '1 s' WHERE id = $1", [first.clientId])
  await expireApps(jobContext(stores, Date.now()))
  const clients = await stores.pg.query<{ id: string }>('SELECT id FROM oauth_clients')
  expect([await count(), clients.some((client) => client.id === first.clientId)]).toEqual([1, false])
})

test('an app that is refreshed while the member connects it once more stays, and neither waits for the other', async () => {
  const { cookie, id } = await makeMember(mine, 'viewer')
  const oldest = await apps.connect(cookie)
  await fillConnections(id)
  oldest.asked.set('code_challenge', 'x'.repeat(43))
  const form = allowed(await apps.formOf(await apps.open(cookie, oldest.asked)))
  const answers = await stores.pg.transaction(async (tx) => {
    // A refresh has locked the key by then, and not yet the app.
    await tx.query('SELECT FROM connected_apps WHERE client_id = $1 FOR UPDATE', [oldest.clientId])
    const refreshed = apps.refresh(oldest, oldest.refresh_token)
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    const consented = apps.send(cookie, form)
    await untilWaitingOrEnded(stores.pg, consented, 2)
    return [refreshed, consented]
  })
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200])
})

test('a request that is consented to in two workspaces at once connects the app to one of them', async () => {
  const [member, elsewhere] = [await makeMember(mine, 'admin'), await makeWorkspace(stores)]
  const join = `INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'admin')`
  await stores.pg.query(join, [elsewhere.workspaceId, member.id])
  const { asked, clientId } = await apps.makeApp()
  const form = await apps.formOf(await apps.open(member.cookie, asked))
  form.append('answer', 'allow')
  const consents = [mine, elsewhere].map(({ workspaceId }) => {
    const chosen = new URLSearchParams(form)
    chosen.set('workspace', String(workspaceId))
    return chosen
  })
  const answers = await stores.pg.transaction(async (tx) => {
    // A consent changes this row before it connects the app.
    await tx.query('SELECT 1 FROM oauth_clients WHERE id = $1 FOR UPDATE', [clientId])
    const both = consents.map((consent) => apps.send(member.cookie, consent))
    await expect.poll(() => countWaiting(stores.pg)).toBe(2)
    return both
  })
  expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([200, 409])
})
