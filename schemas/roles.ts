/**
 * Roles of a workspace's members, and the scopes of each: this table alone says what a role may do. Scopes of viewers and editors
 * stand by name, so that neither gets a new one unseen.
 */
import { manageScope, ownScope, type Scope, type SessionScope, scopes } from './scopes.ts'

/** Roles that a member can be given. */
export const givenRoles = ['admin', 'editor', 'viewer'] as const
export type GivenRole = (typeof givenRoles)[number]
/** `owner` is whom the workspace belongs to: nobody gives or takes that role. */
export type Role = 'owner' | GivenRole

const viewer = [
  ...(['workspace:read', 'profile:read', 'accounts:read', 'media:read', 'posts:read', 'links:read'] as const),
  ...(['analytics:read', 'replays:read'] as const),
] satisfies Scope[]
const editor = [
  ...viewer,
  ...(['profile:write', 'media:write', 'posts:write', 'links:write', 'analytics:write'] as const),
] satisfies Scope[]

export const scopesOfRoles: Readonly<Record<Role, readonly (Scope | SessionScope)[]>> = {
  viewer,
  editor,
  admin: [...scopes, manageScope],
  owner: [...scopes, manageScope, ownScope],
}

/** Whether whoever has the role may invite, and change what members may do. */
export function mayManage(role: Role): boolean {
  return scopesOfRoles[role].includes(manageScope)
}
