/** Social accounts, connected by signing in at the platform: each platform's way, and attacks on it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { beginSignIn } from '../../pipeline/connecting/begin-sign-in.ts'
import { finishSignIn } from '../../pipeline/connecting/finish-sign-in.ts'
import { expireApps } from '../../pipeline/retention/expire-apps.ts'
import { accountCredentialsPurpose, makeSecretBox } from '../../runtime/crypto/secret-box.ts'
import { accountSignInMs } from '../../schemas/limits/publish-limits.ts'
import { makeWorkspace, setUpApi } from '../support/api.ts'
import { svcOn } from '../support/command-line.ts'
import { jobContext } from '../support/job-context.ts'
import { linkedinApp, linkedinToken, member, pageUrn, startLinkedin } from '../support/linkedin-server.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { setUpMembers } from '../support/members.ts'
import { instagramUser, metaApp, page, pageToken, startMeta, threadsToken } from '../support/meta-server.ts'
import { board, pinterestApp, startPinterest } from '../support/pinterest-server.ts'
import { answerOnce, type ProviderServer } from '../support/provider-server.ts'
import { startTiktok, tiktokApp } from '../support/tiktok-server.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'
import { startX } from '../support/x-server.ts'
import { channel, googleClient, startYoutube } from '../support/youtube-server.ts'

let skippedMs = 0
const now = () => Date.now() + skippedMs
const { stores, api, mine } = setUpApi({ allowPrivateTargets: true, clock: { now } })
const { signInOwner, makeMember } = setUpMembers({ stores, api, now })

type Ask = Awaited<ReturnType<typeof signInOwner>>
let owner: Ask
let mastodon: MastodonServer
beforeAll(async () => {
  mastodon = await startMastodon()
})
beforeEach(async () => {
  skippedMs = 0
  owner = await signInOwner(mine)
})
afterAll(() => mastodon?.close())

// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what a test looks at
type Answer = any
const begin = (body: object, ask = owner) => ask<Answer>('POST', '/social-accounts/sign-in', body)
const ofMastodon = () => ({ platform: 'mastodon', url: `${mastodon.url}/@shop` })
/** The body that the dashboard sends, of the address that the browser came back to. */
function returnedIn(address: string) {
  const { oauth_token, ...sent } = Object.fromEntries(new URL(address).searchParams)
  return { state: oauth_token ?? sent['state'], ...sent }
}
const finish = (address: string, ask = owner) =>
  ask<Answer>('POST', '/social-accounts/sign-in/return', returnedIn(address))
const choose = (sign_in_id: number, choice: string, ask = owner) =>
  ask<Answer>('POST', '/social-accounts/sign-in/choose', { sign_in_id, choice })
/** Where the browser comes back to, once the person agreed. */
const agreed = async (ask = owner) => mastodon.pages.agree((await begin(ofMastodon(), ask)).body.address)
const accounts = async (ask = owner) => (await ask<Answer>('GET', '/social-accounts/checked')).body
const said = ({ status, body }: { status: number; body: Answer }) => [status, body.detail?.[0]?.msg ?? body.detail]
const everything = async () =>
  JSON.stringify([
    await stores.pg.query('SELECT row_to_json(s)::text AS s FROM account_sign_ins s'),
    await stores.pg.query('SELECT row_to_json(s)::text AS s FROM platform_apps s'),
    await stores.pg.query('SELECT row_to_json(s)::text AS s FROM social_account_credentials s'),
    await stores.pg.query('SELECT metadata::text FROM audit_events'),
  ])

async function credentialsOf(id: number): Promise<Answer> {
  const [row] = await stores.pg.query<{ sealed: Buffer }>(
    'SELECT sealed FROM social_account_credentials WHERE social_account_id = $1',
    [id],
  )
  return JSON.parse(makeSecretBox(stores.secretKey, accountCredentialsPurpose).open(row!.sealed)!)
}

interface Case {
  readonly platform: string
  readonly app: { readonly platform: string; readonly id: string; readonly secret: string; readonly scopes?: string }
  readonly body?: object
  start(): Promise<{ server: ProviderServer; agree(address: string): string }>
  /** The choice that is made, where there is one, and all that are offered. */
  readonly choice?: string
  readonly offered?: readonly string[]
  readonly account: object
  readonly credentials: object
}

const renewal = {
  clientId: linkedinApp.client_id,
  clientSecret: linkedinApp.client_secret,
  refreshToken: linkedinApp.refresh_token,
}
const startingLinkedin = async () => {
  const server = await startLinkedin()
  return { server, agree: server.signIn.agree }
}
const startingMeta = async () => {
  const server = await startMeta()
  server.state.appSecret = metaApp.secret
  return { server, agree: server.signIn.agree }
}
const ofLinkedin = { platform: 'linkedin', id: linkedinApp.client_id, secret: linkedinApp.client_secret }
const ofFacebook = { platform: 'facebook', id: metaApp.id, secret: metaApp.secret }

const cases: Case[] = [
  {
    platform: 'linkedin',
    app: ofLinkedin,
    start: startingLinkedin,
    account: { external_id: member.urn, handle: 'Ada Shop (782bbtaQ)' },
    credentials: { accessToken: linkedinToken, renewal },
  },
  {
    platform: 'linkedin',
    start: startingLinkedin,
    choice: pageUrn,
    offered: ['Ada Shop', 'The Shop'],
    app: {
      ...ofLinkedin,
      scopes: 'openid,profile,w_member_social,w_organization_social,r_organization_social,r_organization_admin',
    },
    account: { external_id: pageUrn, handle: 'the-shop' },
    credentials: { accessToken: linkedinToken, renewal },
  },
  {
    platform: 'facebook',
    app: ofFacebook,
    start: startingMeta,
    choice: page.id,
    offered: ['The Shop', 'Another'],
    account: { external_id: page.id, handle: page.username },
    credentials: { accessToken: pageToken, appSecret: metaApp.secret },
  },
  {
    platform: 'instagram',
    app: ofFacebook,
    start: startingMeta,
    account: { external_id: instagramUser.id, handle: '@the.shop' },
    credentials: { accessToken: pageToken, appSecret: metaApp.secret },
  },
  {
    platform: 'threads',
    app: { ...ofFacebook, platform: 'threads' },
    async start() {
      const server = await startMeta()
      return { server, agree: server.signInToThreads.agree }
    },
    account: { handle: '@the.shop' },
    credentials: { accessToken: threadsToken },
  },
  {
    platform: 'pinterest',
    app: { platform: 'pinterest', id: pinterestApp.client_id, secret: pinterestApp.client_secret },
    async start() {
      const server = await startPinterest()
      return { server, agree: server.signIn.agree }
    },
    choice: board.id,
    offered: ['Spring', 'Autumn'],
    account: { handle: 'theshop', provider_metadata: { board_id: board.id } },
    credentials: { renewal: { refreshToken: pinterestApp.refresh_token, clientId: pinterestApp.client_id } },
  },
  {
    platform: 'youtube',
    app: { platform: 'youtube', id: googleClient.client_id, secret: googleClient.client_secret },
    async start() {
      const server = await startYoutube()
      return { server, agree: server.signIn.agree }
    },
    account: { external_id: channel.id, handle: channel.customUrl },
    credentials: { refreshToken: googleClient.refresh_token, clientId: googleClient.client_id },
  },
  {
    platform: 'tiktok',
    app: { platform: 'tiktok', id: tiktokApp.client_key, secret: tiktokApp.client_secret },
    body: { privacy: 'friends' },
    async start() {
      const server = await startTiktok()
      server.addCreator()
      return { server, agree: server.signIn.agree }
    },
    account: { handle: '@shop1', provider_metadata: { privacy_level: 'MUTUAL_FOLLOW_FRIENDS' } },
    credentials: { clientId: tiktokApp.client_key, clientSecret: tiktokApp.client_secret, refreshToken: 'rft.shop1' },
  },
  {
    platform: 'x',
    app: { platform: 'x', id: 'Api+Key', secret: 'api&secret' },
    async start() {
      const server = await startX()
      return { server, agree: server.agree }
    },
    account: { handle: '@shop', connection_type: 'oauth' },
    credentials: { apiKey: 'Api+Key', token: '2244994945-Token', tokenSecret: 'token~(secret)!' },
  },
]

test.each(cases.map((one) => [`${one.platform}${one.choice === undefined ? '' : ', with a choice'}`, one] as const))(
  '%s: whoever signs in there connects the account, and connects it again without another question',
  async (_, { platform, app, body, start, choice, offered, account, credentials }) => {
    await svcOn(stores, 'apps', 'remove', '--platform', app.platform)
    expect(said(await begin({ platform, ...body }))[1]).toContain('has no app here')
    const words = ['--platform', app.platform, '--id', app.id, '--secret', app.secret]
    const set = await svcOn(
      stores,
      'apps',
      'set',
      ...words,
      ...(app.scopes === undefined ? [] : ['--scopes', app.scopes]),
    )
    expect([set.code, set.err, JSON.stringify(set.json).includes(app.secret)]).toEqual([0, '', false])
    const { platform: at, id: client_id, scopes = '' } = app
    const listed = (await svcOn(stores, 'apps', 'list')).json.find((one: Answer) => one.platform === at)
    expect(listed).toEqual({ platform: at, client_id, scopes: scopes.split(',').filter((scope) => scope !== '') })
    const { server, agree } = await start()
    try {
      let made = await finish(agree((await begin({ platform, ...body })).body.address))
      if (choice !== undefined) {
        expect(made.body.choices.map(({ name }: { name: string }) => name)).toEqual(offered)
        expect(said(await choose(made.body.sign_in_id, 'another'))[1]).toContain('none of those that were offered')
        const { sign_in_id } = made.body
        const unknown = 'unknown, or was used'
        expect(said(await choose(sign_in_id, choice, await signInOwner(mine)))[1]).toContain(unknown)
        skippedMs = accountSignInMs
        expect(said(await choose(sign_in_id, choice))[1]).toContain(unknown)
        skippedMs = 0
        const both = await Promise.all([choose(sign_in_id, choice), choose(sign_in_id, choice)])
        const late = both.find(({ status }) => status !== 200)
        expect(said(late!)[1]).toContain(unknown)
        made = both.find(({ status }) => status === 200)!
      }
      expect([made.status, made.body]).toMatchObject([200, { platform, is_renewed: false, sign_in_id: null }])
      const { id } = made.body
      expect(await accounts()).toMatchObject([{ id, platform, status: 'connected', ...account }])
      expect(await credentialsOf(id)).toMatchObject(credentials)
      await stores.pg.query(`UPDATE social_accounts SET status = 'expired', display_name = 'Ours' WHERE id = $1`, [id])
      const again = await finish(agree((await begin({ platform, renews: id })).body.address))
      expect([again.status, again.body]).toMatchObject([200, { id, is_renewed: true, sign_in_id: null }])
      expect(await accounts()).toMatchObject([{ id, status: 'connected', display_name: 'Ours', ...account }])
      expect(server.faults).toEqual([])
      expect(await everything()).not.toContain(app.secret)
    } finally {
      await server.close()
    }
  },
)

test('Mastodon needs no app; the sign-in is taken once, and what is stored shows nothing', async () => {
  expect((await owner<Answer>('GET', '/social-accounts/sign-in')).body.platforms).toContain('mastodon')
  const { body } = await begin(ofMastodon())
  const back = mastodon.pages.agree(body.address)
  const { state, code } = returnedIn(back) as { state: string; code: string }
  expect(said(await finish(back.replace(code, 'another')))).toEqual([422, expect.stringContaining('invalid_grant')])
  // The person's own code is of no use any more.
  expect(said(await finish(back))).toEqual([422, expect.stringContaining('unknown, or was used')])
  const told = await agreed()
  const itsCode = returnedIn(told)['code' as 'state']
  const error_description = `No ${itsCode} of secret-of-app`
  answerOnce(mastodon, 'POST /oauth/token', { status: 400, body: { error: 'invalid_grant', error_description } })
  expect(said(await finish(told))[1]).toContain('No … of …')
  const again = await agreed()
  const both = await Promise.all([finish(again), finish(again)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
  const made = both.find(({ status }) => status === 200)!
  expect(made.body).toMatchObject({ handle: '@shop@social.test', is_renewed: false })
  expect(await credentialsOf(made.body.id)).toEqual({ url: mastodon.url, token: mastodon.state.token })
  const stored = await everything()
  for (const secret of [state, code, 'secret-of-app', mastodon.state.token]) {
    expect([stored.includes(secret), stored.includes(Buffer.from(secret).toString('hex'))]).toEqual([false, false])
  }
  const [{ metadata }] = (await stores.pg.query<Answer>(
    `SELECT metadata FROM audit_events WHERE workspace_id = $1 AND action = 'social_account.finish_sign_in'`,
    [mine.workspaceId],
  )) as [Answer]
  expect(metadata).toEqual({
    fields: ['state', 'code'],
    platform: 'mastodon',
    handle: '@shop@social.test',
    is_renewed: false,
  })
})

test('a sign-in that was declined, is of another server, or too old says so, and connects nothing', async () => {
  const declined = mastodon.pages.decline((await begin(ofMastodon())).body.address)
  expect(said(await finish(declined))[1]).toContain('The sign-in was declined at Mastodon')
  expect(said(await finish(`${await agreed()}&iss=https://evil.example`))[1]).toContain("isn't one of Mastodon")
  const late = await agreed()
  skippedMs = accountSignInMs
  expect(said(await finish(late))[1]).toContain('more than 10 minutes ago')
  await stores.pg.query("UPDATE account_sign_ins SET expires_at = now() - interval '1 s'")
  await expireApps(jobContext(stores, Date.now()))
  expect((await everything()).startsWith('[[],')).toBe(true)
  const elsewhere = await agreed()
  await stores.pg.query('UPDATE account_sign_ins SET workspace_id = $1 WHERE state_hash IS NOT NULL', [
    (await makeWorkspace(stores)).workspaceId,
  ])
  expect(said(await finish(elsewhere))[1]).toContain('begun in another workspace')
  expect(said(await begin({ platform: 'bluesky' }))[0]).toBe(422)
  expect(said(await begin({ platform: 'x', url: 'https://x.example' }))[1]).toContain('is for mastodon')
  expect(said(await begin({ platform: 'tiktok' }))[1]).toContain('is required: everyone')
  expect(said(await begin({ platform: 'mastodon' }))[1]).toContain('is required: the instance')
  expect(await accounts()).toEqual([])
})

test('a sign-in comes back to the workspace of the tab that began it, where another tab is elsewhere', async () => {
  const { cookie, id } = await makeMember(mine, 'admin')
  const { workspaceId } = await makeWorkspace(stores)
  await stores.pg.query("INSERT INTO members (workspace_id, owner_id, role) VALUES ($1, $2, 'admin')", [
    workspaceId,
    id,
  ])
  const shown = async (query = '', init: RequestInit = {}, headers: Record<string, string> = {}) => {
    const answer = await api.ask(query, { ...init, headers: { cookie, 'Sec-Fetch-Site': 'same-origin', ...headers } })
    return [answer.status, await answer.text()] as const
  }
  expect((await shown(`/dashboard?workspace=${workspaceId}`))[0]).toBe(200)
  const headers = { 'Content-Type': 'application/json', 'X-Workspace': String(mine.workspaceId) }
  const begun = await shown(
    '/api/v1/social-accounts/sign-in',
    { method: 'POST', body: JSON.stringify(ofMastodon()) },
    headers,
  )
  expect(begun[0]).toBe(200)
  const back = mastodon.pages.agree(JSON.parse(begun[1]).address)
  const returned = { method: 'POST', body: JSON.stringify(returnedIn(back)) }
  const finished = await shown('/api/v1/social-accounts/sign-in/return', returned, {
    'Content-Type': 'application/json',
  })
  expect(finished[0], finished[1]).toBe(200)
})

test('nobody finishes, or chooses in, the sign-in of another session, member, workspace or role', async () => {
  const admin = await makeMember(mine, 'admin')
  const other = await makeWorkspace(stores)
  const back = await agreed()
  for (const ask of [admin.ask, await signInOwner(mine), await signInOwner(other)]) {
    expect(said(await finish(back, ask))[1]).toContain('begun by somebody else, or in another browser')
  }
  const forged = `${back.split('?')[0]}?state=${'a'.repeat(43)}&code=${returnedIn(back)['code' as 'state']}`
  expect(said(await finish(forged))[1]).toContain('unknown, or was used')
  // Nobody of these has used it up.
  expect((await finish(back)).status).toBe(200)
  const theirs = await agreed(admin.ask)
  await stores.pg.query(`UPDATE members SET role = 'editor' WHERE owner_id = $1`, [admin.id])
  expect((await finish(theirs, admin.ask)).status).toBe(403)
  const bare = {
    method: 'POST',
    body: JSON.stringify(returnedIn(theirs)),
    headers: { 'Sec-Fetch-Site': 'same-origin' },
  }
  expect((await api.ask('/api/v1/social-accounts/sign-in/return', bare)).status).toBe(401)
  const crossSite = { ...bare, headers: { 'Sec-Fetch-Site': 'cross-site', cookie: admin.cookie } }
  expect((await api.ask('/api/v1/social-accounts/sign-in/return', crossSite)).status).toBe(403)
  expect((await choose(1, 'a', await signInOwner(other))).status).toBe(422)
  expect(await accounts()).toHaveLength(1)
})

test('no step of a sign-in asks an instance in a private network, where that is refused', async () => {
  const way = { allowPrivate: false, signal: new AbortController().signal }
  const wanted = { platform: 'mastodon', url: mastodon.url, renews: null } as const
  const refused = /^Mastodon couldn't be asked: .*no public address/
  const redirect = 'https://svc.example/dashboard/connect'
  await expect(beginSignIn(wanted, null, redirect, way)).rejects.toThrow(refused)
  const { kept } = await beginSignIn(wanted, null, redirect, { ...way, allowPrivate: true })
  await expect(finishSignIn(kept, { code: 'code' }, way)).rejects.toThrow(refused)
})

test('the sign-in of an account that is connected again must be its own', async () => {
  const { body } = await finish(await agreed())
  mastodon.hinder = ({ step }) =>
    step.endsWith('verify_credentials')
      ? { status: 200, body: { id: '5', username: 'another', display_name: '' } }
      : undefined
  const back = mastodon.pages.agree((await begin({ platform: 'mastodon', renews: body.id })).body.address)
  expect(said(await finish(back))[1]).toContain('the credentials of another account, @another@social.test')
  mastodon.hinder = () => undefined
  const others = await signInOwner(await makeWorkspace(stores))
  expect(said(await begin({ platform: 'mastodon', renews: body.id }, others))[1]).toContain(
    'no account of this workspace',
  )
})

test('a session that ends while it begins a sign-in is told so, and the refusal is not kept for repeats', async () => {
  const admin = await makeMember(mine, 'admin')
  const begun = await stores.pg.transaction(async (tx) => {
    await tx.query('DELETE FROM browser_sessions WHERE owner_id = $1', [admin.id])
    const asked = admin.ask<Answer>('POST', '/social-accounts/sign-in', ofMastodon(), { 'Idempotency-Key': 'once' })
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    return [asked]
  })
  expect(said(await begun[0]!)).toEqual([401, 'Not authenticated'])
  expect(await stores.pg.query('SELECT FROM idempotency_records WHERE workspace_id = $1', [mine.workspaceId])).toEqual(
    [],
  )
})

test('a repeat that comes while the platform is asked is told so, and gets the answer afterwards', async () => {
  const address = await agreed()
  const finishing = () =>
    owner<Answer>('POST', '/social-accounts/sign-in/return', returnedIn(address), { 'Idempotency-Key': 'finish' })
  let isAsked = false
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  mastodon.hinder = async () => {
    isAsked = true
    await held
    return undefined
  }
  const first = finishing()
  await expect.poll(() => isAsked).toBe(true)
  const meanwhile = await finishing()
  goOn()
  mastodon.hinder = () => undefined
  expect((await first).status).toBe(200)
  expect(said(meanwhile)).toEqual([409, 'A request with this Idempotency-Key is still in progress'])
  expect(await finishing()).toEqual(await first)
})

test('a sign-in that was begun under a lost SECRET_KEY is begun again', async () => {
  const address = await agreed()
  const sealed = makeSecretBox('another secret of tests, of 40 letters...', accountCredentialsPurpose).seal('{}')
  await stores.pg.query('UPDATE account_sign_ins SET sealed = $1', [sealed])
  expect(said(await finish(address))).toEqual([422, expect.stringContaining('begin it again')])
})
