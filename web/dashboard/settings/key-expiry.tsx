/** Until when a secret key or a shared link works: asked for and shown. */
import type { ApiKeyResource } from '../../../schemas/resources/api-key.ts'
import { time } from '../parts/format.ts'
import { serverNow } from '../requests/request.ts'

interface KeyStateProps {
  readonly of: Pick<(typeof ApiKeyResource)['_output'], 'revoked_at' | 'expires_at'>
  readonly timezone: string
}

export function KeyState({ of: { revoked_at, expires_at }, timezone }: KeyStateProps) {
  if (revoked_at !== null) return <span class="bad">revoked</span>
  if (expires_at === null) return <span class="good">live</span>
  if (Date.parse(expires_at) <= serverNow()) return <span class="bad">expired</span>
  return <span class="good">until {time(expires_at, timezone)}</span>
}

export function ExpiryField() {
  return (
    <label>
      Expires at the start of this day; leave it empty for no expiry
      <input name="expires" type="date" />
    </label>
  )
}

/** Its member of a body to send. */
export function expiryIn(data: FormData): { readonly expires_at?: string } {
  const expires = String(data.get('expires'))
  return expires === '' ? {} : { expires_at: expires }
}
