import { orderProfile, readCompanyProfile } from '../../../postgres/tables/workspaces/company-profiles.ts'
import { CompanyProfile } from '../../../schemas/resources/company-profile.ts'
import { defineOperation } from '../define.ts'

export const refreshProfile = defineOperation({
  name: 'company_profile.refresh',
  http: { method: 'POST', path: '/v1/company-profile/refresh' },
  tool: 'svc.refresh_company_profile',
  summary: "Generate the company profile anew from its sources and the workspace's data.",
  tag: 'Company profile',
  effect: 'update',
  isIdempotent: false,
  scope: 'profile:write',
  input: {},
  output: CompanyProfile,
  async handle({ workspace, stores: { pg }, config }) {
    await orderProfile(pg, workspace.id)
    return readCompanyProfile(pg, workspace.id, config.apiHost)
  },
})
