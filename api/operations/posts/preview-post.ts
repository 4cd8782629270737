import { invalid } from '../../../schemas/problems.ts'
import { providers } from '../../../schemas/reference/providers.ts'
import { PostCreate, PostPreview } from '../../../schemas/resources/post.ts'
import { momentOf } from '../../../schemas/written-time.ts'
import { defineOperation } from '../define.ts'
import { readChoice } from './choice.ts'
import { errorsAmong, shownIssue } from './issue.ts'
import { judgeReadiness, judgeTime } from './readiness.ts'

export const previewPost = defineOperation({
  name: 'post.preview',
  http: { method: 'POST', path: '/v1/posts/preview' },
  tool: 'svc.preview_post',
  summary: 'Check captions, accounts, media, time and platform constraints of a post without writing anything.',
  description:
    'Accounts and media that do not exist are issues here, not refusals. `loc` names the place in the body that an issue is about; warnings stop nothing.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: { body: PostCreate },
  output: PostPreview,
  async handle({ body, workspace, clock, stores: { pg } }) {
    const { base_caption, scheduled_at, media_ids = [], social_account_ids = [], platform_captions = {} } = body
    const time = scheduled_at && momentOf(scheduled_at, workspace.timezone, ['body', 'scheduled_at'])
    if (time && 'error' in time) throw invalid([time.error])
    const named = { mediaIds: media_ids, accountIds: social_account_ids, captions: platform_captions }
    const choice = await readChoice(pg, workspace.id, named)
    const { issues: found, targets } = judgeReadiness({ baseCaption: base_caption, ...choice })
    const late = time ? judgeTime(time.moment, clock.now(), scheduled_at.sent) : []
    const issues = [...late, ...choice.unknown, ...found]
    return {
      valid: errorsAmong(issues).length === 0,
      issues: issues.map(shownIssue),
      targets: targets.map(({ account, caption, characterCount, isValid }) => ({
        social_account_id: account.id,
        platform: account.platform,
        caption,
        character_count: characterCount,
        character_limit: providers[account.platform].captionLengthMax,
        media_count: choice.media.length,
        valid: isValid,
      })),
      scheduled_at: time ? new Date(time.moment).toISOString() : null,
    }
  },
})
