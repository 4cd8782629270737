/** The cookie of a browser whose password was right, and whose code is awaited. It opens nothing but the page of the code. */
import { isLinkToken } from '../../../schemas/keys.ts'
import { signInStepMs } from '../../../schemas/limits/second-factor-limits.ts'
import { cookieValue, setCookie } from '../cookies.ts'

export const codePath = '/dashboard/sign-in/code'

const cookieName = 'svc_sign_in'

export function stepTokenOf(cookies: string | undefined): string | undefined {
  const token = cookieValue(cookies, cookieName)
  return token !== undefined && isLinkToken(token) ? token : undefined
}

/** `Set-Cookie` of a step; of its end without a token. @param isSecure whether browsers come by TLS */
export function stepCookie(token: string | undefined, isSecure: boolean): string {
  // No other site leads to the page of the code.
  return setCookie({
    name: cookieName,
    value: token,
    path: codePath,
    lastsMs: signInStepMs,
    sameSite: 'Strict',
    isSecure,
  })
}
