/** Refusals of apps: the codes of RFC 6749, 7591 and 8707, with a text for whoever builds the app. */
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import { noStore } from '../transports/rest.ts'

const statuses = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unsupported_grant_type: 400,
  invalid_target: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  temporarily_unavailable: 429,
  server_error: 503,
} as const

export class OAuthRefusal extends Error {
  override name = 'OAuthRefusal'
  readonly code: keyof typeof statuses
  /** After which the app may ask again; 0: it isn't said. */
  readonly waitMs: number

  constructor(code: keyof typeof statuses, text: string, waitMs = 0) {
    super(text)
    this.code = code
    this.waitMs = waitMs
  }
}

export function refusalReply({ code, message, waitMs }: OAuthRefusal): HttpReply {
  const retry = waitMs > 0 ? { 'Retry-After': String(Math.ceil(waitMs / 1000)) } : {}
  return jsonReply(statuses[code], { error: code, error_description: message }, { ...noStore, ...retry })
}
