/** Cookies of the dashboard: read by name, and set so that no script and no other site's form has them. */

/** The value of a cookie in a `Cookie` header. */
export function cookieValue(cookies: string | undefined, name: string): string | undefined {
  const values = (cookies ?? '').split(';').map((cookie) => cookie.trim().split('='))
  return values.find(([found]) => found === name)?.[1]
}

export interface NewCookie {
  readonly name: string
  /** Undefined ends the cookie. */
  readonly value: string | undefined
  readonly path: string
  readonly lastsMs: number
  readonly sameSite: 'Lax' | 'Strict'
  /** Whether browsers come by TLS. */
  readonly isSecure: boolean
}

/** A `Set-Cookie`. */
export function setCookie({ name, value, path, lastsMs, sameSite, isSecure }: NewCookie): string {
  const lasts = value === undefined ? 0 : lastsMs / 1000
  return `${name}=${value ?? ''}; Path=${path}; Max-Age=${lasts}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`
}
