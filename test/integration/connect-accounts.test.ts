/** Social accounts, connected in the dashboard: what the command checks and says, by a request of a session. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import { accountTriesMax, platformNameLengthMax } from '../../schemas/limits/publish-limits.ts'
import { makeWorkspace, setUpApi, startApi, type TestApi } from '../support/api.ts'
import { type BlueskyServer, startBluesky } from '../support/bluesky-server.ts'
import { type MastodonServer, startMastodon } from '../support/mastodon-server.ts'
import { setUpMembers } from '../support/members.ts'
import { runPublisher, schedulePost, toldTo } from '../support/publisher.ts'
import { asking } from '../support/publishing.ts'
import { secretOf, startX, type XServer } from '../support/x-server.ts'

const { stores, api, mine } = setUpApi({ allowPrivateTargets: true })
const { signInOwner, makeMember } = setUpMembers({ stores, api })
const ask = asking(api, () => mine.apiKey)

let mastodon: MastodonServer
let bluesky: BlueskyServer
let x: XServer
let owner: Awaited<ReturnType<typeof signInOwner>>
beforeAll(async () => {
  ;[mastodon, bluesky, x] = await Promise.all([startMastodon(), startBluesky(), startX()])
})
beforeEach(async () => {
  mastodon.hinder = () => undefined
  mastodon.asked.length = 0
  owner = await signInOwner(mine)
})
afterAll(() => Promise.all([mastodon, bluesky, x].map((server) => server?.close())))

const ofMastodon = () => ({ platform: 'mastodon', url: mastodon.url, secret: mastodon.state.token })
const connect = (body: object, headers?: Record<string, string>) =>
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what a test looks at
  owner<any>('POST', '/social-accounts', body, headers)
const accounts = async () => (await ask('GET', '/v1/social-accounts')).body
const audited = () =>
  stores.pg.query<{ action: string; metadata: object }>(
    `SELECT action, metadata FROM audit_events WHERE workspace_id = $1 AND action LIKE 'social_account.%' ORDER BY id`,
    [mine.workspaceId],
  )
/** The faults, by their places and in words. */
const refusals = (detail: { loc: string[]; msg: string }[]) => detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`)

test('accounts are connected by their secrets, which are stored encrypted and shown nowhere', async () => {
  const { handle, password } = bluesky.state
  const given = [
    { ...ofMastodon(), display_name: 'The shop, by us' },
    { platform: 'bluesky', url: bluesky.url, handle: `\u202a@${handle}\u202c`, secret: password },
    { platform: 'x', url: x.url, secret: `${secretOf(x.state.keys)}\n` },
  ]
  const made = []
  for (const one of given) made.push(await connect(one))
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200])
  const shown = await accounts()
  expect(made.map(({ body: { is_renewed, ...account } }) => account)).toEqual(shown.toReversed())
  const about = { status: 'connected', health_status: 'ok' }
  expect(shown).toMatchObject([
    { ...about, platform: 'x', connection_type: 'oauth' },
    { ...about, platform: 'bluesky', handle, connection_type: 'app_password' },
    { ...about, handle: '@shop@social.test', display_name: 'The shop, by us', external_id: '4711' },
  ])
  const { body: checked } = await owner<{ checked_at: string }[]>('GET', '/social-accounts/checked')
  for (const { checked_at } of checked) expect(Date.now() - Date.parse(checked_at)).toBeLessThan(120_000)
  expect((await audited())[0]).toEqual({
    action: 'social_account.connect',
    metadata: {
      fields: ['platform', 'secret', 'url', 'display_name'],
      platform: 'mastodon',
      handle: '@shop@social.test',
      connection_type: 'oauth',
      is_renewed: false,
    },
  })
  const rows = await stores.pg.query('SELECT row_to_json(c)::text AS c FROM social_account_credentials c')
  const everything = JSON.stringify([made, checked, rows, await audited()])
  for (const secret of [mastodon.state.token, password, ...Object.values(x.state.keys)]) {
    expect([everything.includes(secret), everything.includes(Buffer.from(secret).toString('hex'))]).toEqual([
      false,
      false,
    ])
  }
})

const secret = 'EAABwzLixnjYBAOZC9'
const page = 'the number of the page on Facebook'
const renewable = 'access_token, and all or none of refresh_token, client_id, client_secret'
test.each<[object, string]>([
  [{ platform: 'mastodon' }, 'url: Value error, is required: the instance, such as https://mastodon.social'],
  [
    { platform: 'mastodon', url: 'http://social.example.com' },
    'url: Value error, must be https: the secret goes there',
  ],
  [{ platform: 'mastodon', url: 'social' }, 'url: Value error, must be an http or https URL, got `social`'],
  [{ platform: 'bluesky' }, 'handle: Value error, is required: the one to sign in with'],
  [
    { platform: 'x' },
    'secret: Value error, must be four lines: API key, API key secret, access token, access token secret',
  ],
  [{ platform: 'x', page: '1' }, 'page: Value error, is for linkedin, instagram, and facebook'],
  [{ platform: 'linkedin', page: '1.5' }, 'page: Value error, must be a whole number from 1, got `1.5`'],
  [
    { platform: 'linkedin', secret: `{"access_token": ` },
    `secret: Value error, must be an access token, or JSON with ${renewable}`,
  ],
  [{ platform: 'threads', handle: 'shop' }, 'handle: Value error, is what the platform says: leave it out'],
  [{ platform: 'threads', secret: `${secret} ${secret}` }, 'secret: Value error, must be an access token'],
  [{ platform: 'instagram' }, `page: Value error, is required: ${page}`],
  [
    { platform: 'facebook', page: '7', secret: `{"app_secret": "${secret}"}` },
    'secret: Value error, must be an access token, or JSON with access_token and app_secret',
  ],
  [{ platform: 'pinterest', board: 'mine' }, 'board: Value error, must be the number of the board on Pinterest'],
  [
    { platform: 'youtube' },
    'secret: Value error, must be three lines, the client ID, the client secret and the refresh token, or JSON with refresh_token, client_id, client_secret',
  ],
  [
    { platform: 'tiktok', privacy: 'all' },
    'privacy: Value error, must be one of everyone, followers, friends, self, got `all`',
  ],
  [
    { platform: 'tiktok', privacy: 'self' },
    'secret: Value error, must be JSON with access_token, refresh_token, client_key and client_secret',
  ],
  [
    { platform: 'telegram', channel: 'shop' },
    'channel: Value error, must be the channel on Telegram, by its @name or number',
  ],
  [{ platform: 'telegram', channel: '@shop' }, "secret: Value error, must be a bot's token, as @BotFather gives it"],
  [
    { platform: 'discord' },
    'secret: Value error, must be the address of a webhook: https://discord.com/api/webhooks/…',
  ],
  [
    { platform: 'myspace' },
    "platform: Input should be 'x', 'bluesky', 'threads', 'mastodon', 'instagram', 'facebook', 'linkedin', 'pinterest', 'youtube', 'tiktok', 'telegram' or 'discord'",
  ],
  [{ platform: 'x', secret: `${secret}\0` }, 'secret: Value error, NUL characters are not allowed'],
  [{ platform: 'x', secret: secret.repeat(300) }, 'secret: String should have at most 4096 characters'],
  [{}, 'platform: Field required'],
])('request %# is refused, and the refusal shows nothing of the secret', async (body, said) => {
  const { status, body: answer } = await connect({ secret, ...body })
  expect([status, refusals(answer.detail)]).toEqual([422, [`body.${said}`]])
  expect(JSON.stringify(answer)).not.toMatch(/EAAB|input"/)
  expect(await accounts()).toEqual([])
})

test('a refused token is said in the platform’s words, without the token, and a name that is too long is not stored', async () => {
  const wrong = await connect({ ...ofMastodon(), secret: 'another-token' })
  const said = "body: Value error, Mastodon didn't take it: The platform answered 401: The access token is invalid"
  expect([wrong.status, refusals(wrong.body.detail)]).toEqual([422, [said]])
  const error = `Malformed access token "${mastodon.state.token}", or ${mastodon.state.token.slice(0, 12)}`
  mastodon.hinder = () => ({ status: 401, body: { error } })
  const repeated = await connect(ofMastodon())
  expect(repeated.body.detail[0].msg).toContain('Malformed access token "…", or …')
  const username = 'a'.repeat(platformNameLengthMax)
  mastodon.hinder = ({ step }) =>
    step.endsWith('verify_credentials') ? { status: 200, body: { id: '4711', username } } : undefined
  expect((await connect(ofMastodon())).body.detail[0].msg).toContain('of more than 300 characters')
  const unreached = await connect({ ...ofMastodon(), url: 'http://127.0.0.1:1' })
  expect(unreached.body.detail[0].msg).toContain("Mastodon couldn't be asked: The platform could not be reached")
  expect(await accounts()).toEqual([])
  expect(await audited()).toEqual([])
})

test('an expired account is connected again by its own credentials alone, and webhooks are told', async () => {
  const { id } = (await connect(ofMastodon())).body
  const expired = `UPDATE social_accounts SET status = 'expired', health_status = 'error' WHERE id = $1`
  await stores.pg.query(expired, [id])
  const { handle, password } = bluesky.state
  const other = { platform: 'bluesky', url: bluesky.url, handle, secret: password, renews: id }
  expect((await connect(other)).body.detail[0].msg).toContain(`the credentials of another account, ${handle}`)
  expect((await accounts()).map(({ status }: { status: string }) => status)).toEqual(['expired'])
  expect((await connect({ ...ofMastodon(), renews: id })).body).toMatchObject({
    id,
    status: 'connected',
    health_status: 'ok',
    is_renewed: true,
  })
  const told = await toldTo(stores, mine.workspaceId)
  expect(told.map(({ type, object }) => [type, object.id])).toEqual([['social_account.health_changed', id]])
})

test('a disconnected account stays in the list without credentials; another workspace’s can’t be told from none', async () => {
  const { id } = (await connect(ofMastodon())).body
  const others = await signInOwner(await makeWorkspace(stores))
  expect((await others('DELETE', `/social-accounts/${id}`)).status).toBe(404)
  expect((await others('GET', '/social-accounts/checked')).body).toEqual([])
  expect((await owner('DELETE', `/social-accounts/${id}`)).body).toMatchObject({ id, status: 'disconnected' })
  const held = 'SELECT 1 FROM social_account_credentials WHERE social_account_id = $1'
  expect(await stores.pg.query(held, [id])).toEqual([])
  expect((await audited()).at(-1)).toMatchObject({
    action: 'social_account.disconnect',
    metadata: { platform: 'mastodon' },
  })
})

test('a repeat has its answer, and the platform is asked once', async () => {
  const key = { 'Idempotency-Key': 'connect-1' }
  const first = await connect(ofMastodon(), key)
  const asked = mastodon.asked.length
  expect(await connect(ofMastodon(), key)).toEqual(first)
  expect((await connect({ ...ofMastodon(), secret: 'other' }, key)).status).toBe(409)
  expect([mastodon.asked.length, (await audited()).length]).toEqual([asked, 1])
})

test('whoever may no longer connect when the platform answers connects nothing', async () => {
  const admin = await makeMember(mine, 'admin')
  mastodon.hinder = async () => {
    await stores.pg.query(`UPDATE members SET role = 'editor' WHERE owner_id = $1`, [admin.id])
    return undefined
  }
  expect((await admin.ask('POST', '/social-accounts', ofMastodon())).status).toBe(403)
  expect([mastodon.asked.length, await accounts()]).toEqual([2, []])
})

test(`a workspace has ${accountTriesMax} tries, and is told when to come again`, async () => {
  const body = { platform: 'x', secret: 'none' }
  for (let n = 0; n < accountTriesMax; n++) expect((await connect(body)).status).toBe(422)
  expect(await connect(body)).toMatchObject({ status: 429, body: { detail: expect.stringContaining('too often') } })
})

test('without ALLOW_PRIVATE_TARGETS nothing is sent to this machine: not by the check, and not to publish', async () => {
  const { id } = (await connect(ofMastodon())).body
  mastodon.asked.length = 0
  const strict: TestApi = await startApi(stores)
  const { signInOwner: signIn } = setUpMembers({ stores, api: strict })
  const refused = await (await signIn(mine))('POST', '/social-accounts', ofMastodon())
  await strict.close()
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining('no public address')])
  const guarded = makeGuardedAgent({ allowPrivate: false, connectMs: 1_000 })
  const publisher = runPublisher(stores, undefined, guarded)
  const post = await schedulePost(ask, { caption: 'Private', accounts: [id] })
  const result = async () => (await ask('GET', `/v1/posts/${post}`)).body.targets[0].publish_result
  await expect.poll(result).toMatchObject({ error: { code: 'unreachable' } })
  await publisher.close()
  await guarded.close()
  expect(mastodon.asked).toEqual([])
})
