/** The values that connect an account of a platform, beside its secret: the command's options and the fields of the dashboard's form. */
import type { Platform } from './providers.ts'

export const accountFields = ['url', 'page', 'board', 'channel', 'privacy', 'handle'] as const
export type AccountField = (typeof accountFields)[number]

/** Who sees the posts of an account on TikTok. */
export const privacies = ['everyone', 'followers', 'friends', 'self'] as const
export type Privacy = (typeof privacies)[number]

interface TakenFields {
  /** With what each is. */
  readonly required: Readonly<Partial<Record<AccountField, string>>>
  readonly optional: readonly AccountField[]
}

const pageOnFacebook = 'the number of the page on Facebook'

/** `handle` only where the platform doesn't say it, or signs in by it. */
export const fieldsOfPlatforms: Readonly<Record<Platform, TakenFields>> = {
  mastodon: { required: { url: 'the instance, such as https://mastodon.social' }, optional: [] },
  bluesky: { required: { handle: 'the one to sign in with' }, optional: ['url'] },
  x: { required: {}, optional: ['url'] },
  linkedin: { required: {}, optional: ['page', 'handle'] },
  threads: { required: {}, optional: [] },
  instagram: { required: { page: pageOnFacebook }, optional: [] },
  facebook: { required: { page: pageOnFacebook }, optional: [] },
  pinterest: { required: { board: 'the number of the board on Pinterest' }, optional: [] },
  youtube: { required: {}, optional: [] },
  tiktok: { required: { privacy: privacies.join(', ') }, optional: [] },
  telegram: { required: { channel: 'the channel on Telegram, by its @name or number' }, optional: [] },
  discord: { required: {}, optional: ['handle'] },
}

/** The platform names no account by itself: whoever connects one may choose its handle. */
export function isHandleChosen(platform: Platform): boolean {
  return fieldsOfPlatforms[platform].optional.includes('handle')
}

export function takes(platform: Platform, field: AccountField): boolean {
  const { required, optional } = fieldsOfPlatforms[platform]
  return required[field] !== undefined || optional.includes(field)
}
