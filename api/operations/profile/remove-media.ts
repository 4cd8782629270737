import { z } from 'zod'
import { readCompanyProfile, removeProfileMedia } from '../../../postgres/tables/workspaces/company-profiles.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { CompanyProfile } from '../../../schemas/resources/company-profile.ts'
import { defineOperation } from '../define.ts'

export const removeProfileMediaAsset = defineOperation({
  name: 'company_profile.remove_media',
  http: { method: 'DELETE', path: '/v1/company-profile/media/{media_id}' },
  tool: 'svc.remove_company_profile_media',
  summary: 'Take a media asset out of the company profile. The asset itself stays.',
  tag: 'Company profile',
  effect: 'delete',
  scope: 'profile:write',
  input: { path: z.object({ media_id: idInPath('media') }) },
  output: CompanyProfile,
  problems: ['media_not_found'],
  emits: 'company_profile.updated',
  auditIds: ['media_id'],
  async handle({ path: { media_id }, workspace, stores: { pg }, config }) {
    if (!(await removeProfileMedia(pg, workspace.id, media_id))) throw problem('media_not_found')
    return readCompanyProfile(pg, workspace.id, config.apiHost)
  },
})
