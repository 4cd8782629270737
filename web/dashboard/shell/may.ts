/** The role of whoever is signed in. Changes that it doesn't allow aren't shown; the API refuses them in any case. */
import type { JoinedWorkspace } from '../../../schemas/resources/member.ts'

export type Joined = (typeof JoinedWorkspace)['_output']

/** Undefined by a shared link, which allows no change. */
let shown: Joined | undefined

export function showRole(joined: Joined | undefined): void {
  shown = joined
}

export function may(scope: Joined['scopes'][number]): boolean {
  return shown?.scopes.includes(scope) ?? false
}

export function ownRole(): string {
  return shown?.role ?? ''
}
