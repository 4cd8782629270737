import { orderProfile, readCompanyProfile } from '../../../postgres/tables/workspaces/company-profiles.ts'
import { isPublicHost } from '../../../runtime/outbound/public-host.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { CompanyProfile, CompanyProfileSources } from '../../../schemas/resources/company-profile.ts'
import { defineOperation } from '../define.ts'
import { notPublic } from '../public-target.ts'

export const updateProfileSources = defineOperation({
  name: 'company_profile.update_sources',
  http: { method: 'PATCH', path: '/v1/company-profile/sources' },
  tool: 'svc.update_company_profile_sources',
  summary: 'Replace the pages that the company profile is made of, and generate it anew.',
  description: 'It is `ready` or `failed` within 30 seconds.',
  tag: 'Company profile',
  effect: 'update',
  isIdempotent: false,
  scope: 'profile:write',
  input: { body: CompanyProfileSources },
  output: CompanyProfile,
  async handle({ body: { source_urls }, workspace, stores: { pg }, config }) {
    if (!config.allowPrivateTargets) requirePublicSources(source_urls)
    await orderProfile(pg, workspace.id, [...new Set(source_urls)])
    return readCompanyProfile(pg, workspace.id, config.apiHost)
  },
})

/** @throws Problem 422; where a host's name leads is checked when connecting */
function requirePublicSources(urls: readonly string[]): void {
  const errors = urls.flatMap((url, at) =>
    isPublicHost(new URL(url).hostname) ? [] : [valueError(['body', 'source_urls', at], url, notPublic)],
  )
  if (errors.length > 0) throw invalid(errors)
}
