/** Leaves for the platform's page, where somebody signs in; the browser comes back to connect.tsx. */
import type { AccountSignInAddress } from '../../../schemas/resources/social-account.ts'
import { type RefusedWrite, send } from '../requests/query.ts'
import { reloadAfterBack } from '../shell/reload-after-back.ts'

/** Longer than the server waits for a platform, which it asks up to three times. */
export const withinPlatformMs = 150_000

/**
 * @param isThere whether whoever asked still waits: who closed the form, or went to another page, stays there
 * @returns why the sign-in can't begin; never where the page is left, or nobody waits
 */
export async function leaveForSignIn(body: object, isThere: { readonly current: boolean }): Promise<RefusedWrite> {
  const sent = await send<(typeof AccountSignInAddress)['_output']>('POST', '/social-accounts/sign-in', body, {
    withinMs: withinPlatformMs,
  })
  if ('refusal' in sent) return sent
  if (isThere.current) {
    reloadAfterBack()
    location.assign(sent.made.address)
  }
  return new Promise(() => undefined)
}
