import { namedIn, readChoice } from '../../../authoring/posts/choice.ts'
import { readGivenTime } from '../../../authoring/posts/given-time.ts'
import { errorsAmong, shownIssue } from '../../../authoring/posts/issue.ts'
import { judgeReadiness, judgeTime } from '../../../authoring/posts/readiness.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { captionLengthMaxOf, providers } from '../../../schemas/reference/providers.ts'
import { PostCreate, PostPreview } from '../../../schemas/resources/post.ts'
import { defineOperation } from '../define.ts'

export const previewPost = defineOperation({
  name: 'post.preview',
  http: { method: 'POST', path: '/v1/posts/preview' },
  tool: 'svc.preview_post',
  summary: 'Check a post against the limits of its platforms. Nothing is written.',
  description: 'Unknown accounts and media are issues. `loc` is a place in the body; warnings stop nothing.',
  tag: 'Posts',
  effect: 'read',
  scope: 'posts:read',
  input: { body: PostCreate },
  output: PostPreview,
  async handle({ body, workspace, clock, stores: { pg } }) {
    const { scheduledAt, errors } = readGivenTime(body.scheduled_at, workspace.timezone)
    if (errors.length > 0) throw invalid(errors)
    const choice = await readChoice(pg, workspace.id, namedIn(body))
    const { issues: found, targets } = judgeReadiness({
      ...choice,
      baseCaption: body.base_caption,
      firstComment: body.first_comment,
    })
    const late = scheduledAt ? judgeTime(scheduledAt, clock.now(), body.scheduled_at?.sent) : []
    const issues = [...late, ...choice.unknown, ...found]
    return {
      valid: errorsAmong(issues).length === 0,
      issues: issues.map(shownIssue),
      targets: targets.map(({ account, caption, characterCount, thread, comment, isValid }) => ({
        social_account_id: account.id,
        platform: account.platform,
        caption,
        character_count: characterCount,
        character_limit: captionLengthMaxOf(providers[account.platform], choice.media.length),
        media_count: choice.media.length,
        thread: thread.map((part, at) => ({
          caption: part.caption,
          character_count: part.characterCount,
          media_count: choice.thread[at]!.media.length,
        })),
        first_comment: comment && {
          text: comment.caption,
          character_count: comment.characterCount,
          character_limit: providers[account.platform].commentLengthMax!,
        },
        valid: isValid,
      })),
      scheduled_at: scheduledAt?.toISOString() ?? null,
    }
  },
})
