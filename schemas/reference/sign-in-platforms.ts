/** Platforms at which a member signs in to connect an account, and whose app that takes. */

/** Each has an app of the installation. That of Facebook is Instagram's, too. */
export const appPlatforms = ['facebook', 'linkedin', 'pinterest', 'threads', 'tiktok', 'x', 'youtube'] as const
export type AppPlatform = (typeof appPlatforms)[number]

/** At Mastodon each sign-in registers an app by itself. */
export const signInPlatforms = [...appPlatforms, 'instagram', 'mastodon'] as const
export type SignInPlatform = (typeof signInPlatforms)[number]

/** The app that signs in at a platform; null: it needs none. */
export function appOf(platform: SignInPlatform): AppPlatform | null {
  if (platform === 'mastodon') return null
  return platform === 'instagram' ? 'facebook' : platform
}

/** Where platforms send browsers back to, below the dashboard's host. */
export const signInReturnPath = '/dashboard/connect'
