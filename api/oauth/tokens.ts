/**
 * POST /oauth/token: a code becomes tokens, and a refresh token new ones. POST /oauth/revoke ends a connection (RFC 7009).
 * Apps are public, so their `client_id` proves nothing; the code's verifier and the tokens do.
 */
import { createHash } from 'node:crypto'
import type { Postgres } from '../../postgres/client.ts'
import {
  endByToken,
  exchangeCode,
  type IssuedTokens,
  refreshConnection,
  type TokenRefusal,
} from '../../postgres/tables/members/connected-apps.ts'
import { findClient } from '../../postgres/tables/members/oauth-clients.ts'
import type { Clock } from '../../runtime/clock.ts'
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import type { Log } from '../../runtime/log.ts'
import { isLinkToken, isWellFormedAccessToken, readRefreshToken } from '../../schemas/keys.ts'
import { noStore } from '../transports/rest.ts'
import { isOwnResource, resourceOf } from './metadata.ts'
import { OAuthRefusal } from './refusal.ts'

interface Issuing {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly clock: Clock
  readonly log: Log
  readonly config: { readonly apiHost: string }
}

type Form = (name: string) => string

/** By RFC 7636. */
const verifierShape = /^[\w.~-]{43,128}$/

/** @throws OAuthRefusal */
export async function answerToken(request: HttpRequest, issuing: Issuing): Promise<HttpReply> {
  const { form, resources } = readForm(request)
  const type = form('grant_type')
  if (type !== 'authorization_code' && type !== 'refresh_token') {
    throw new OAuthRefusal('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token')
  }
  const { apiHost } = issuing.config
  if (!resources.every((resource) => isOwnResource(resource, apiHost))) {
    throw new OAuthRefusal('invalid_target', `Tokens are for ${resourceOf(apiHost)} alone`)
  }
  const clientId = form('client_id')
  if (clientId === '') throw new OAuthRefusal('invalid_request', 'client_id is missing')
  const issued =
    type === 'refresh_token' ? await refresh(form, clientId, issuing) : await exchange(form, clientId, issuing)
  if (typeof issued === 'string') throw await refusalOf(issued, clientId, issuing)
  const { accessToken, accessMs, refreshToken, scopes } = issued
  const answer = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: Math.floor(accessMs / 1000),
    refresh_token: `${refreshToken.family}.${refreshToken.turn}`,
    scope: scopes.join(' '),
  }
  return jsonReply(200, answer, noStore)
}

type Issued = Promise<IssuedTokens | TokenRefusal>

async function exchange(form: Form, clientId: string, { pg, clock }: Issuing): Issued {
  const [code, verifier] = [form('code'), form('code_verifier')]
  if (!verifierShape.test(verifier)) throw new OAuthRefusal('invalid_request', 'code_verifier is missing or malformed')
  if (!isLinkToken(code)) return 'invalid'
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const asked = { code, clientId, redirectUri: form('redirect_uri'), challenge }
  return pg.transaction((tx) => exchangeCode(tx, asked, clock.now()))
}

async function refresh(form: Form, clientId: string, { pg, clock }: Issuing): Issued {
  const token = readRefreshToken(form('refresh_token'))
  return token === null ? 'invalid' : pg.transaction((tx) => refreshConnection(tx, token, clientId, clock.now()))
}

/** An app that was forgotten registers again when it is told so. */
async function refusalOf(refusal: TokenRefusal, clientId: string, { pg, clock, log }: Issuing): Promise<OAuthRefusal> {
  if (refusal === 'replayed') log.warn({ clientId }, 'a code or refresh token was used twice, and its connection ended')
  const client = await findClient(pg, clientId, new Date(clock.now()))
  if (client === null) return new OAuthRefusal('invalid_client', 'No app is registered under this client_id')
  return new OAuthRefusal('invalid_grant', 'The code or token is unknown, over, or was used before')
}

/** A token that isn't known, or is another app's, ends nothing; the answer is the same. @throws OAuthRefusal */
export async function revoke(request: HttpRequest, { pg }: Issuing): Promise<HttpReply> {
  const { form } = readForm(request)
  const [token, clientId] = [form('token'), form('client_id')]
  if (token === '' || clientId === '') throw new OAuthRefusal('invalid_request', 'token and client_id are needed')
  const family = readRefreshToken(token)?.family
  const accessToken = isWellFormedAccessToken(token) ? token : undefined
  const isKnownShape = isLinkToken(clientId) && (family !== undefined || accessToken !== undefined)
  if (isKnownShape) await pg.transaction((tx) => endByToken(tx, { clientId, accessToken, family }))
  return jsonReply(200, {}, noStore)
}

/** @throws OAuthRefusal */
function readForm({ headers, body }: HttpRequest): { readonly form: Form; readonly resources: string[] } {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers.get('content-type') ?? '')) {
    throw new OAuthRefusal('invalid_request', 'The body must be application/x-www-form-urlencoded')
  }
  const sent = new URLSearchParams(body.toString())
  const repeated = [...sent.keys()].find((name) => name !== 'resource' && sent.getAll(name).length > 1)
  if (repeated !== undefined) throw new OAuthRefusal('invalid_request', 'A parameter is repeated')
  return { form: (name) => sent.get(name) ?? '', resources: sent.getAll('resource') }
}
