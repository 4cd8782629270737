/** LinkedIn's secret: an access token, or JSON with all that renews it. */
import type { LinkedinCredentials } from '../../pipeline/publishing/linkedin-api.ts'
import { CommandFailed } from '../command.ts'

/** Named as LinkedIn's answer to a sign-in names them, which may have further fields. */
const renewalFields = ['refresh_token', 'client_id', 'client_secret'] as const

/** @param secret bounded by who read it. @throws CommandFailed, which shows nothing of it */
export function linkedinCredentialsIn(secret: string): LinkedinCredentials {
  const given = secret.startsWith('{') ? parse(secret) : { access_token: secret }
  const accessToken = given['access_token']
  const [refreshToken, clientId, clientSecret] = renewalFields.map((field) => given[field])
  if (isToken(accessToken)) {
    if (isToken(refreshToken) && isToken(clientId) && isToken(clientSecret)) {
      return { accessToken, renewal: { refreshToken, clientId, clientSecret } }
    }
    if (renewalFields.every((field) => given[field] === undefined)) return { accessToken, renewal: null }
  }
  const names = renewalFields.join(', ')
  throw new CommandFailed(`the secret must be an access token, or JSON with access_token, and all or none of ${names}`)
}

/** It goes into a header. */
export const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    // Its message would show a part of the secret.
    return {}
  }
}
