/** Problems that keep a post from being published: a preview lists them, and a refused call returns them. */

import { codedValueError, type Loc, type ValidationError } from '../../schemas/errors/validation-errors.ts'
import type { Platform } from '../../schemas/reference/providers.ts'

/** Errors first, then warnings, which stop nothing. */
export const issueCodes = [
  'account_not_found',
  'media_not_found',
  'platform_not_chosen',
  'scheduled_in_past',
  'no_connected_account',
  'caption_blank',
  'caption_too_long',
  'too_many_links',
  'too_many_hashtags',
  'too_many_mentions',
  'thread_not_taken',
  'thread_repeats',
  'comment_too_long',
  'media_missing',
  'image_missing',
  'video_missing',
  'too_many_images',
  'too_many_videos',
  'too_many_media',
  'media_mixed',
  'media_kind',
  'media_too_large',
  'image_shape',
  'alt_text_too_long',
  'account_not_connected',
  'account_unhealthy',
  'alt_text_missing',
  'image_cropped',
  'comment_not_taken',
] as const
export type IssueCode = (typeof issueCodes)[number]

const warnings: ReadonlySet<IssueCode> = new Set<IssueCode>([
  'account_not_connected',
  'account_unhealthy',
  'alt_text_missing',
  'image_cropped',
  'comment_not_taken',
])

export interface Issue {
  readonly loc: Loc
  readonly code: IssueCode
  readonly message: string
  readonly platform: Platform | null
  readonly accountId: number | null
  /** The value at `loc`. */
  readonly input: unknown
}

export function severityOf(code: IssueCode): 'error' | 'warning' {
  return warnings.has(code) ? 'warning' : 'error'
}

export function errorsAmong(issues: readonly Issue[]): Issue[] {
  return issues.filter(({ code }) => severityOf(code) === 'error')
}

/** As a member of a preview. */
export function shownIssue({ loc, code, message, platform, accountId }: Issue) {
  return { loc: [...loc], severity: severityOf(code), code, message, platform, social_account_id: accountId }
}

/** As members of a 422: what several accounts of a platform have in common is said once, as it shows what was sent. */
export function refusalsOf(issues: readonly Issue[]): ValidationError[] {
  const said = new Map<string, ValidationError>()
  for (const { loc, code, message, platform, input } of issues) {
    const key = JSON.stringify([loc, code, platform])
    const ctx = platform === null ? { code } : { code, platform }
    if (!said.has(key)) said.set(key, codedValueError(loc, input, message, ctx))
  }
  return [...said.values()]
}
