/**
 * Roles of a workspace's members, and the scopes of each: this table alone says what a role may do. Scopes of viewers,
 * contributors and editors stand by name, so that none gets a new one unseen.
 */
import { type HeldScope, manageScope, ownScope, publishScope, scopes } from './scopes.ts'

/** Roles that a member can be given. */
export const givenRoles = ['admin', 'editor', 'contributor', 'viewer'] as const
export type GivenRole = (typeof givenRoles)[number]
/** `owner` is whom the workspace belongs to: nobody gives or takes that role. */
export type Role = 'owner' | GivenRole

const viewer = [
  'workspace:read',
  'profile:read',
  'accounts:read',
  'media:read',
  'posts:read',
  'links:read',
  'analytics:read',
  'replays:read',
] satisfies HeldScope[]
const contributor = [...viewer, 'media:write', 'posts:write', 'links:write'] satisfies HeldScope[]
const editor = [...contributor, 'profile:write', 'analytics:write', publishScope] satisfies HeldScope[]

export const scopesOfRoles: Readonly<Record<Role, readonly HeldScope[]>> = {
  viewer,
  contributor,
  editor,
  admin: [...scopes, publishScope, manageScope],
  owner: [...scopes, publishScope, manageScope, ownScope],
}

/** Whether whoever has the role may invite, and change what members may do. */
export function mayManage(role: Role): boolean {
  return scopesOfRoles[role].includes(manageScope)
}
