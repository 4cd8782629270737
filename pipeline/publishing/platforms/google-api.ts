/** Parts that all interfaces of Google have (its documentation: "Using OAuth 2.0", "Standard error responses"). */
import { membersOf } from '../../../schemas/json-object.ts'

export const googleTokenUrl = 'https://oauth2.googleapis.com/token'

/** @param body an answer's body. @returns the reason of Google's refusal, or undefined where it is none */
export function reasonIn(body: unknown): string | undefined {
  const { errors } = membersOf(membersOf(body)['error']) as { errors?: unknown }
  const reason = Array.isArray(errors) ? membersOf(errors[0])['reason'] : undefined
  return typeof reason === 'string' ? reason : undefined
}
