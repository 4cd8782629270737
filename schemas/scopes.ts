/** The scopes that a secret key may have; each operation names the one that it needs. */
export const scopes = [
  'workspace:read',
  'profile:read',
  'profile:write',
  'accounts:read',
  'media:read',
  'media:write',
  'posts:read',
  'posts:write',
  'links:read',
  'links:write',
  'analytics:read',
  'replays:read',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
] as const

/** The one scope of a shared link. No other key can be given it: what it opens is marked `isShared`. */
export const viewScope = 'dashboard:view'

export type Scope = (typeof scopes)[number]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
