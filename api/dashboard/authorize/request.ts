/**
 * Reads an authorization request, by which an app asks a person for access (RFC 6749, with PKCE and RFC 8707). A request with a fault leads
 * nowhere by itself: anybody may register an app, and our address would lead to any other.
 */
import type { OAuthClient } from '../../../postgres/tables/members/oauth-clients.ts'
import { type Scope, scopes } from '../../../schemas/scopes.ts'
import { isOwnResource } from '../../oauth/metadata.ts'
import { answerAt, isRegistered } from '../../oauth/redirect-uris.ts'

export interface AppRequest {
  readonly client: OAuthClient
  readonly redirectUri: string
  readonly challenge: string
  /** Those that it asks for, in our order; all where it names none. */
  readonly scopes: readonly Scope[]
  /** Its parameters, as a form sends them on. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Where an answer goes. */
  answer(members: Readonly<Record<string, string>>): string
}

/** A text for the person, and where the app is told of it, once the person goes there. */
export interface RequestFault {
  readonly fault: string
  readonly back?: string
}

export const unknownApp: RequestFault = {
  fault: 'The service doesn’t know this app, or has forgotten it. Remove the connection in the app, and add it anew.',
}

const names = [
  'response_type',
  'client_id',
  'redirect_uri',
  'state',
  'scope',
  'code_challenge',
  'code_challenge_method',
  'resource',
] as const

/** Standard OpenID Connect scopes. Generic clients ask for them; they grant nothing, and every app gets refresh tokens anyway. */
const generalScopes = new Set(['openid', 'profile', 'email', 'offline_access'])

/** SHA-256 in base64url. */
const challengeShape = /^[\w-]{43}$/

interface Reading {
  find(clientId: string): Promise<OAuthClient | null>
  readonly apiHost: string
}

export async function readAppRequest(
  sent: URLSearchParams,
  { find, apiHost }: Reading,
): Promise<AppRequest | RequestFault> {
  const of = (name: (typeof names)[number]) => sent.get(name) ?? ''
  const client = await find(of('client_id'))
  if (client === null) return unknownApp
  const redirectUri = of('redirect_uri')
  if (!isRegistered(redirectUri, client.redirectUris)) {
    return {
      fault: 'The app wants the answer at an address that it didn’t register. Don’t go on if you came here by a link.',
    }
  }
  const state = sent.get('state') ?? undefined
  const answer: AppRequest['answer'] = (members) => answerAt(redirectUri, { ...members, state, iss: apiHost })
  const refuse = (error: string, fault: string): RequestFault => ({ fault, back: answer({ error }) })

  if (names.some((name) => name !== 'resource' && sent.getAll(name).length > 1)) {
    return refuse('invalid_request', 'The app’s request names a parameter twice.')
  }
  if (of('response_type') !== 'code')
    return refuse('unsupported_response_type', 'The app asks for another kind of answer than a code.')
  if (!challengeShape.test(of('code_challenge')) || of('code_challenge_method') !== 'S256') {
    return refuse('invalid_request', 'The app’s request has no PKCE challenge by S256.')
  }
  if (!sent.getAll('resource').every((resource) => isOwnResource(resource, apiHost))) {
    return refuse('invalid_target', 'The app asks for access to another service.')
  }
  const named = of('scope')
    .split(' ')
    .filter((name) => name !== '' && !generalScopes.has(name))
  const asked = named.length === 0 ? scopes : scopes.filter((scope) => named.includes(scope))
  if (asked.length === 0) return refuse('invalid_scope', 'The app asks for rights that the service doesn’t have.')
  const fields = [...sent].filter(([name]) => (names as readonly string[]).includes(name))
  return { client, redirectUri, challenge: of('code_challenge'), scopes: asked, fields, answer }
}
