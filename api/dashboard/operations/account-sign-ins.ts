/**
 * Social accounts, connected by signing in at the platform (0053): a session begins a sign-in, the browser comes back to
 * `/dashboard/connect`, and the same session finishes it. Held by test/integration/sign-in-accounts.test.ts.
 */
import { beginSignIn, type KeptSignIn, type PlatformApp } from '../../../pipeline/connecting/begin-sign-in.ts'
import { connectAccount } from '../../../pipeline/connecting/connect-account.ts'
import { type FinishedSignIn, finishSignIn, givenBy } from '../../../pipeline/connecting/finish-sign-in.ts'
import { renewalOf } from '../../../pipeline/connecting/renewed-sign-in.ts'
import { type SignedIn, signIn } from '../../../pipeline/connecting/sign-in.ts'
import {
  type AccountSignInRefusal,
  type Beginner,
  endAccountSignIn,
  insertAccountSignIn,
  keepForChoice,
  readReturnedSignIn,
  takeAccountSignIn,
} from '../../../postgres/tables/accounts/account-sign-ins.ts'
import { listPlatformApps, readPlatformApp } from '../../../postgres/tables/accounts/platform-apps.ts'
import { readSocialAccounts } from '../../../postgres/tables/accounts/social-accounts.ts'
import type { SecretBox } from '../../../runtime/crypto/secret-box.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { accountSignInMs } from '../../../schemas/limits/publish-limits.ts'
import { privacies } from '../../../schemas/reference/account-fields.ts'
import {
  appOf,
  type SignInPlatform,
  signInPlatforms,
  signInReturnPath,
} from '../../../schemas/reference/sign-in-platforms.ts'
import {
  AccountSignIn,
  AccountSignInAddress,
  AccountSignInBegin,
  AccountSignInChoose,
  AccountSignInPlatforms,
  AccountSignInReturn,
} from '../../../schemas/resources/social-account.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import { type CallContext, defineOperation } from '../../operations/define.ts'
import { requireManaging } from './require-managing.ts'
import { asProblem, type Connecting, countTry } from './social-accounts.ts'

const listPlatforms = defineOperation({
  name: 'social_account.list_sign_ins',
  http: { method: 'GET', path: '/v1/social-accounts/sign-in' },
  summary: 'List the platforms whose accounts are connected by signing in there.',
  tag: 'Social accounts',
  effect: 'read',
  scope: manageScope,
  input: {},
  output: AccountSignInPlatforms,
  async handle({ stores: { pg } }) {
    const apps = (await listPlatformApps(pg)).map(({ platform }) => platform)
    const isThere = (platform: SignInPlatform) => {
      const app = appOf(platform)
      return app === null || apps.includes(app)
    }
    return { platforms: signInPlatforms.filter(isThere) }
  },
})

const makeBegin = ({ accountBox, appBox, signInLimiter }: Connecting) =>
  defineOperation({
    name: 'social_account.begin_sign_in',
    http: { method: 'POST', path: '/v1/social-accounts/sign-in' },
    summary: 'Begin a sign-in at a platform: the answer has the address that the browser goes to.',
    tag: 'Social accounts',
    effect: 'create',
    scope: manageScope,
    input: { body: AccountSignInBegin },
    output: AccountSignInAddress,
    answersWithSecret: true,
    auditIds: ['platform'],
    problems: ['account_tries_exceeded'],
    async prepare(context) {
      const { body, workspace, config } = context
      const { platform } = body
      await countTry(signInLimiter, workspace.id)
      if (body.url !== undefined && platform !== 'mastodon') throw wrong('url', 'is for mastodon')
      if (body.privacy !== undefined && platform !== 'tiktok') throw wrong('privacy', 'is for tiktok')
      const renewed = body.renews === undefined ? null : await readRenewal(context, platform, body.renews)
      const [url, privacy] = [body.url ?? renewed?.url, body.privacy ?? renewed?.privacy]
      if (platform === 'tiktok' && privacy === undefined) throw wrong('privacy', `is required: ${privacies.join(', ')}`)
      const app = await readApp(context, platform, appBox)
      const redirect = config.apiHost + signInReturnPath
      const wanted = { platform, url, privacy, renews: renewed?.renews ?? null }
      return asProblem(beginSignIn(wanted, app, redirect, askOptionsOf(context)))
    },
    async handle({ workspace, actor, clock, prepared: { address, state, kept }, stores: { pg } }) {
      await requireManaging(pg, workspace.id, actor)
      const sealed = accountBox.seal(JSON.stringify(kept))
      const expiresAt = new Date(clock.now() + accountSignInMs)
      const isBegun = await insertAccountSignIn(pg, beginnerOf({ workspace, actor }), { state, sealed, expiresAt })
      if (!isBegun) throw problem('not_authenticated')
      return { address }
    },
  })

const makeFinish = ({ accountBox }: Connecting) =>
  defineOperation({
    name: 'social_account.finish_sign_in',
    http: { method: 'POST', path: '/v1/social-accounts/sign-in/return' },
    summary: 'Finish a sign-in by what the platform sent back: the account is connected, or it is to be chosen.',
    tag: 'Social accounts',
    effect: 'create',
    scope: manageScope,
    input: { body: AccountSignInReturn },
    output: AccountSignIn,
    takesSecret: true,
    auditIds: ['platform', 'handle', 'is_renewed'],
    async prepare(context) {
      const { state, ...returned } = context.body
      const { pg } = context.stores
      // Taken before the platform is asked: no two requests finish it.
      const taken = await takeAccountSignIn(pg, state, beginnerOf(context), new Date(context.clock.now()))
      if (typeof taken === 'string') throw refusal(texts[taken])
      const kept = keptIn<KeptSignIn>(accountBox, taken.sealed)
      const finished = await asProblem(finishSignIn(kept, returned, askOptionsOf(context)))
      const { choices } = finished
      const { renews, platform } = finished.kept
      const isRenewed = (key: string) => key === renews?.choice
      const choice = renews === null && choices?.length === 1 ? choices[0] : choices?.find(({ key }) => isRenewed(key))
      if (renews !== null && choices !== null && choice === undefined) {
        throw refusal(`You signed in, but ${renews.handle} is none of the accounts that you gave access to`)
      }
      const isOpen = choices !== null && choice === undefined
      const signedIn = isOpen ? null : await asProblem(signIn(givenBy(finished, choice), askOptionsOf(context)))
      return { id: taken.id, platform, finished, signedIn }
    },
    async handle(context) {
      const { id, platform, finished, signedIn } = context.prepared
      const { pg } = context.stores
      if (signedIn !== null) return connect(context, accountBox, { id, finished, signedIn })
      await requireManaging(pg, context.workspace.id, context.actor)
      await keepForChoice(pg, { id, sealed: accountBox.seal(JSON.stringify(finished)) })
      const choices = (finished.choices ?? []).map(({ key, name }) => ({ key, name }))
      return { id: null, platform, handle: null, is_renewed: false, sign_in_id: id, choices }
    },
  })

const makeChoose = ({ accountBox, signInLimiter }: Connecting) =>
  defineOperation({
    name: 'social_account.choose_after_sign_in',
    http: { method: 'POST', path: '/v1/social-accounts/sign-in/choose' },
    summary: 'Connect the page or board that was chosen after a sign-in.',
    tag: 'Social accounts',
    effect: 'create',
    scope: manageScope,
    input: { body: AccountSignInChoose },
    output: AccountSignIn,
    auditIds: ['platform', 'handle', 'is_renewed'],
    problems: ['account_tries_exceeded'],
    async prepare(context) {
      const { body, workspace, stores, clock } = context
      await countTry(signInLimiter, workspace.id)
      const found = await readReturnedSignIn(stores.pg, body.sign_in_id, beginnerOf(context), new Date(clock.now()))
      const finished = found && keptIn<Partial<FinishedSignIn>>(accountBox, found.sealed)
      if (found === null || !isFinished(finished)) throw refusal(texts.unknown)
      const choice = finished.choices?.find(({ key }) => key === body.choice)
      if (choice === undefined) throw wrong('choice', 'is none of those that were offered')
      const signedIn = await asProblem(signIn(givenBy(finished, choice), askOptionsOf(context)))
      return { id: found.id, finished, signedIn }
    },
    handle: (context) => connect(context, accountBox, context.prepared),
  })

function keptIn<Kept>(box: SecretBox, sealed: Buffer): Kept {
  const kept = box.open(sealed)
  // It was begun under a SECRET_KEY that was lost.
  if (kept === null) throw refusal(texts.unknown)
  return JSON.parse(kept)
}

/** One that wasn't finished has no token. */
function isFinished(signIn: Partial<FinishedSignIn> | null): signIn is FinishedSignIn {
  return signIn?.secret !== undefined
}

export const makeSignInOperations = (connecting: Connecting) => [
  listPlatforms,
  makeBegin(connecting),
  makeFinish(connecting),
  makeChoose(connecting),
]

type Prepared = { readonly id: number; readonly finished: FinishedSignIn; readonly signedIn: SignedIn }
type Context = Pick<CallContext, 'workspace' | 'actor' | 'stores' | 'config'>

async function connect(context: Context, box: SecretBox, { id, finished, signedIn }: Prepared) {
  const { workspace, actor } = context
  const { pg } = context.stores
  await requireManaging(pg, workspace.id, actor)
  if (!(await endAccountSignIn(pg, id))) throw refusal(texts.unknown)
  const { platform, renews } = finished.kept
  const { credentials, ...account } = signedIn
  // A name that somebody gave it stays.
  const displayName = renews === null ? account.displayName : undefined
  const wanted = { ...account, displayName, workspaceId: workspace.id, platform }
  const sealed = box.seal(JSON.stringify(credentials))
  const made = await asProblem(connectAccount(pg, { account: wanted, sealed, renews: renews?.id }))
  const { id: accountId, handle } = made.account
  return { id: accountId, platform, handle, is_renewed: made.isRenewed, sign_in_id: null, choices: [] }
}

const texts: Readonly<Record<AccountSignInRefusal, string>> = {
  unknown: 'This sign-in is unknown, or was used already: begin it again',
  expired: 'This sign-in was begun more than 10 minutes ago: begin it again',
  'of another session':
    'This sign-in was begun by somebody else, or in another browser or session: begin it again here',
  'of another workspace': 'This sign-in was begun in another workspace: go back to it, and begin the sign-in again',
}

const refusal = (text: string) => invalid([valueError(['body'], null, text)])
const wrong = (field: string, text: string) => invalid([valueError(['body', field], null, text)])

const beginnerOf = ({ workspace, actor }: Pick<CallContext, 'workspace' | 'actor'>): Beginner => ({
  workspaceId: workspace.id,
  sessionId: actor.sessionId!,
})

/** The caller may disconnect meanwhile, so the request to the platform has its own deadline. */
const askOptionsOf = ({ config }: Pick<CallContext, 'config'>) => ({
  allowPrivate: config.allowPrivateTargets,
  signal: new AbortController().signal,
})

async function readRenewal({ stores, workspace }: Context, platform: SignInPlatform, id: number) {
  const [account] = await readSocialAccounts(stores.pg, workspace.id, [id])
  if (account?.platform !== platform) throw wrong('renews', `is no account of this workspace on ${platform}`)
  return renewalOf(account)
}

async function readApp({ stores }: Context, platform: SignInPlatform, box: SecretBox): Promise<PlatformApp | null> {
  const name = appOf(platform)
  if (name === null) return null
  const app = await readPlatformApp(stores.pg, name)
  const remedy = `whoever runs the service names it by \`svc apps set --platform ${name}\``
  if (app === null) throw wrong('platform', `${platform} has no app here: ${remedy}`)
  return { clientId: app.client_id, clientSecret: opened(app.sealed, box, remedy), scopes: app.scopes }
}

function opened(sealed: Buffer, box: SecretBox, remedy: string): string {
  const secret = box.open(sealed)
  // It was sealed under a SECRET_KEY that was lost.
  if (secret === null) throw wrong('platform', `the app's secret can't be read: ${remedy}`)
  return secret
}
