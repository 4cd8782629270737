/**
 * The pages of a shared link, for somebody without an account: those of figures, under `/shared` in place of
 * `/dashboard`. The link's token is the fragment of the address. It stays there, so that the address can be passed on,
 * and goes to the API alone.
 */

import { sharedAddress } from '../../../schemas/shared-pages.ts'
import { inWorkspace, workspaceIn } from '../../../schemas/workspace-address.ts'

/** Tests outside of a browser have none. */
declare const location: Readonly<Record<'pathname' | 'search' | 'hash', string>> | undefined

const place = typeof location === 'undefined' ? undefined : location

/** Whether this is such a page. */
export const isShared = place !== undefined && /^\/shared(\/|$)/.test(place.pathname)

/** The end of every address within the pages. */
export function linkFragment(): string {
  return isShared ? place!.hash : ''
}

/** The workspace that the address of the page's load names. */
export const openedWorkspace = isShared ? undefined : workspaceIn(place?.search ?? '')

let named: number | undefined

/** From now on addresses name the workspace, for whoever is a member of several: each tab and each link has its own. */
export function nameWorkspace(id: number | undefined): void {
  named = id
}

/** Where a page of the dashboard is here. @param path with its query */
export function addressOf(path: string): string {
  if (isShared) return sharedAddress(path) + linkFragment()
  return named === undefined ? path : inWorkspace(path, named)
}

/** The page of the dashboard that an address is of. */
export function pageAt(pathname: string): string {
  const path = pathname.replace(/\/$/, '')
  return isShared ? path.replace('/shared', '/dashboard') : path
}
