/** Refusals of a valid key: 402 without a plan, 403 outside its workspace and scopes. */
import type { Standing } from '../../postgres/tables/workspaces/api-keys.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { publishScope, viewScope } from '../../schemas/scopes.ts'
import type { Operation } from '../operations/define.ts'

/** Refuses by the key alone. */
export type Guard = (key: Standing) => void

/** The key's owner needs a plan, and the workspace lives by that of its own owner: mostly the same person. Other members need none. */
export const requirePlan: Guard = (key) => {
  if (key.plan_key === null || key.workspace.plan_key === null) throw problem('plan_missing')
}

/** The key's owner must still be a member. */
export const requireMembership: Guard = (key) => {
  if (!key.isMember) throw problem('workspace_access_denied')
}

/** … and the workspace in use. */
export const requireAccess: Guard = (key) => {
  requireMembership(key)
  if (key.workspace.suspended_at !== null) throw problem('workspace_access_denied')
}

/** Where the workspace requires it, a session's account needs a second factor. */
export const requireFactor: Guard = (key) => {
  if (key.lacksFactor) throw problem('second_factor_missing')
}

/** A shared link is for pages of the dashboard alone. */
export const refuseSharedLink: Guard = (key) => {
  if (key.scopes.includes(viewScope)) throw problem('workspace_access_denied')
}

type Needs = Pick<Operation, 'scope' | 'isShared' | 'publishes'>

export function requireScope({ scopes, actorType }: Standing, { scope, isShared, publishes }: Needs): void {
  if (isShared && scopes.includes(viewScope)) return
  const missing = [scope, ...(publishes ? [publishScope] : [])].find((one) => !scopes.includes(one))
  if (missing !== undefined) throw lacking(actorType, missing)
}

/** An event's property may hold anything, such as an e-mail: who filters by guesses learns whether one is right. */
const hiddenFromSharedLinks = ['property', 'event_property']

/** @param query validated; undefined for an operation without one */
export function requireOpenQuery(
  { scopes, actorType }: Standing,
  query: Readonly<Record<string, unknown>> | undefined,
  { scope }: Needs,
): void {
  if (!scopes.includes(viewScope)) return
  if (hiddenFromSharedLinks.some((name) => query?.[name] !== undefined)) throw lacking(actorType, scope)
}

export function lacking(actorType: Standing['actorType'], scope: string) {
  return actorType === 'user' ? problem('role_insufficient') : problem('scope_missing', scope)
}
