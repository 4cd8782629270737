import { readCompanyProfile } from '../../../postgres/tables/workspaces/company-profiles.ts'
import { CompanyProfile } from '../../../schemas/resources/company-profile.ts'
import { defineOperation } from '../define.ts'

export const getProfile = defineOperation({
  name: 'company_profile.get',
  http: { method: 'GET', path: '/v1/company-profile' },
  tool: 'svc.get_company_profile',
  summary: 'Get what is known of the company: what it says of itself, with a quote for each claim.',
  tag: 'Company profile',
  effect: 'read',
  scope: 'profile:read',
  input: {},
  output: CompanyProfile,
  handle({ workspace, stores: { pg }, config }) {
    return readCompanyProfile(pg, workspace.id, config.apiHost)
  },
})
