import { z } from 'zod'
import { serializeAccount } from '../../../postgres/tables/accounts/serialize-account.ts'
import { listSocialAccounts as readAll } from '../../../postgres/tables/accounts/social-accounts.ts'
import { SocialAccountResource } from '../../../schemas/resources/social-account.ts'
import { defineOperation } from '../define.ts'

export const listSocialAccounts = defineOperation({
  name: 'social_account.list',
  http: { method: 'GET', path: '/v1/social-accounts' },
  tool: 'svc.list_social_accounts',
  summary: 'List the social accounts that posts can go to, newest first.',
  description: 'Disconnected ones are among them.',
  tag: 'Social accounts',
  effect: 'read',
  scope: 'accounts:read',
  input: {},
  output: z.array(SocialAccountResource),
  async handle({ workspace, stores: { pg } }) {
    return (await readAll(pg, workspace.id)).map(serializeAccount)
  },
})
