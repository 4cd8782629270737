/** Social accounts, connected as by `svc accounts connect`: by owner and admins in the dashboard. No key connects one (0035). */
import { z } from 'zod'
import { connectAccount, disconnectAccount } from '../../../pipeline/connecting/connect-account.ts'
import { ConnectingRefused } from '../../../pipeline/connecting/connecting-refused.ts'
import { type GivenAccount, signIn } from '../../../pipeline/connecting/sign-in.ts'
import { serializeAccount } from '../../../postgres/tables/accounts/serialize-account.ts'
import { listCheckedAccounts } from '../../../postgres/tables/accounts/social-accounts.ts'
import type { SecretBox } from '../../../runtime/crypto/secret-box.ts'
import { invalid, problem, rateProblem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInPath } from '../../../schemas/lax.ts'
import {
  CheckedSocialAccount,
  ConnectedSocialAccount,
  SocialAccountConnect,
  SocialAccountResource,
} from '../../../schemas/resources/social-account.ts'
import { manageScope } from '../../../schemas/scopes.ts'
import type { SignInLimiter } from '../../guards/rate-limit.ts'
import { defineOperation } from '../../operations/define.ts'
import { requireManaging } from './require-managing.ts'

export interface Connecting {
  /** Seals what accounts are published to by. */
  readonly accountBox: SecretBox
  /** Opens the secrets of the installation's apps at platforms. */
  readonly appBox: SecretBox
  readonly signInLimiter: Pick<SignInLimiter, 'takeAccount'>
}

const listThem = defineOperation({
  name: 'social_account.list_checked',
  http: { method: 'GET', path: '/v1/social-accounts/checked' },
  summary: 'List the social accounts, newest first, with when each was last checked.',
  tag: 'Social accounts',
  effect: 'read',
  scope: 'accounts:read',
  input: {},
  output: z.array(CheckedSocialAccount),
  async handle({ workspace, stores: { pg } }) {
    const accounts = await listCheckedAccounts(pg, workspace.id)
    return accounts.map(({ checked_at, ...account }) => ({
      ...serializeAccount(account),
      checked_at: checked_at?.toISOString() ?? null,
    }))
  },
})

const makeConnect = ({ accountBox, signInLimiter }: Connecting) =>
  defineOperation({
    name: 'social_account.connect',
    http: { method: 'POST', path: '/v1/social-accounts' },
    summary: 'Connect a social account, or renew the connection of one that there is.',
    tag: 'Social accounts',
    effect: 'create',
    scope: manageScope,
    input: { body: SocialAccountConnect },
    output: ConnectedSocialAccount,
    takesSecret: true,
    auditIds: ['platform', 'handle', 'connection_type', 'is_renewed'],
    problems: ['account_tries_exceeded'],
    async prepare({ body, workspace, config: { allowPrivateTargets: allowPrivate } }) {
      await countTry(signInLimiter, workspace.id)
      const { display_name: _, renews: __, ...given } = body
      // The caller may disconnect meanwhile, so the check has its own deadline.
      const { signal } = new AbortController()
      const { credentials, ...account } = await asProblem(signIn(given as GivenAccount, { allowPrivate, signal }))
      return { account, sealed: accountBox.seal(JSON.stringify(credentials)) }
    },
    async handle({ body, workspace, actor, prepared: { account, sealed }, stores: { pg } }) {
      await requireManaging(pg, workspace.id, actor)
      const displayName = body.display_name ?? account.displayName
      const wanted = { ...account, displayName, workspaceId: workspace.id, platform: body.platform }
      const made = await asProblem(connectAccount(pg, { account: wanted, sealed, renews: body.renews }))
      return { ...made.account, is_renewed: made.isRenewed }
    },
  })

const disconnect = defineOperation({
  name: 'social_account.disconnect',
  http: { method: 'DELETE', path: '/v1/social-accounts/{social_account_id}' },
  summary: 'Disconnect a social account: its credentials are deleted, and nothing is published to it any more.',
  tag: 'Social accounts',
  effect: 'delete',
  scope: manageScope,
  input: { path: z.object({ social_account_id: idInPath('social_account') }) },
  output: SocialAccountResource,
  auditIds: ['platform', 'handle'],
  problems: ['social_account_not_found'],
  async handle({ path: { social_account_id: id }, workspace, stores: { pg } }) {
    const disconnected = await disconnectAccount(pg, id, workspace.id)
    if (disconnected === null) throw problem('social_account_not_found')
    return serializeAccount(disconnected.account)
  },
})

export const makeAccountOperations = (connecting: Connecting) => [listThem, makeConnect(connecting), disconnect]

/** Counts a try to connect an account. @throws Problem where there were too many */
export async function countTry(limiter: Connecting['signInLimiter'], workspaceId: number): Promise<void> {
  const waitMs = await limiter.takeAccount(workspaceId)
  if (waitMs > 0) throw rateProblem('account_tries_exceeded', waitMs)
}

/** @throws Problem at the field that is at fault; at the body, where the platform or the workspace refuses */
export async function asProblem<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ConnectingRefused)) throw error
    throw invalid([valueError(error.field === null ? ['body'] : ['body', error.field], null, error.message)])
  }
}
