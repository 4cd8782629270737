import { lockMedia } from '../../../postgres/tables/posts/media.ts'
import { putProfileMedia, readCompanyProfile } from '../../../postgres/tables/workspaces/company-profiles.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { profileMediaMax } from '../../../schemas/limits/profile-limits.ts'
import { CompanyProfile, CompanyProfileMedia } from '../../../schemas/resources/company-profile.ts'
import { defineOperation } from '../define.ts'

export const associateProfileMedia = defineOperation({
  name: 'company_profile.associate_media',
  http: { method: 'POST', path: '/v1/company-profile/media' },
  tool: 'svc.associate_company_profile_media',
  summary: 'Give a media asset a role in the company profile, in place of any other.',
  description: 'A `demo_video` is a video; all other roles take images.',
  tag: 'Company profile',
  effect: 'update',
  scope: 'profile:write',
  input: { body: CompanyProfileMedia },
  output: CompanyProfile,
  emits: 'company_profile.updated',
  auditIds: ['media_id'],
  async handle({ body: { media_id, role }, workspace, stores: { pg }, config }) {
    const media = await lockMedia(pg, workspace.id, media_id)
    if (media === null) throw invalid([valueError(['body', 'media_id'], media_id, 'Media asset not found')])
    const isVideo = media.content_type.startsWith('video/')
    if (isVideo !== (role === 'demo_video')) {
      throw invalid([valueError(['body', 'role'], role, `The media asset is ${isVideo ? 'a video' : 'an image'}`)])
    }
    if (!(await putProfileMedia(pg, workspace.id, { mediaId: media.id, role }))) {
      throw invalid([
        valueError(['body', 'media_id'], media_id, `A profile has at most ${profileMediaMax} media assets`),
      ])
    }
    return readCompanyProfile(pg, workspace.id, config.apiHost)
  },
})
