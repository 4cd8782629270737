/**
 * The page of a shared link, for somebody without an account. The link's token is the fragment of the address: it stays there, so
 * that the address can be passed on, and goes to the API alone.
 */

/** Tests outside of a browser have none. */
declare const location: { readonly pathname: string; readonly hash: string } | undefined

const place = typeof location === 'undefined' ? undefined : location

/** Whether this is that page: it shows the overview and nothing else. */
export const isShared = place?.pathname === '/shared'

/** Path of the overview. */
export const home = isShared ? '/shared' : '/dashboard'

/** The end of every address within the page. */
export function linkFragment(): string {
  return isShared ? place!.hash : ''
}
