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
  'analytics:write',
  'replays:read',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
] as const

/** The one scope of a shared link. No other key can be given it: what it opens is marked `isShared`. */
export const viewScope = 'dashboard:view'

/**
 * Scopes of sessions alone: no key can be given them. The first is for keys, shared links, members, recipients of
 * reports, erasure and settings. The second is for what is made on the owner's account. schemas/roles.ts says who has
 * them.
 */
export const manageScope = 'workspace:manage'
export const ownScope = 'workspace:own'

/**
 * Operations that decide about publication, such as scheduling, need it besides `posts:write`. No key is given it: each key with that
 * scope has it, unless the role of the key's member withholds it.
 */
export const publishScope = 'posts:publish'

export type Scope = (typeof scopes)[number]
export type SessionScope = typeof manageScope | typeof ownScope
/** All that a caller may have. */
export type HeldScope = Scope | SessionScope | typeof publishScope

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
