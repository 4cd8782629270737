/** What a secret key may be allowed to do; which operation needs which stands with the operation. */
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

export type Scope = (typeof scopes)[number]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}
