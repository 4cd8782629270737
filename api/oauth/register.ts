/** POST /oauth/register: an app tells its name and where answers go (RFC 7591). It gets an id and no secret. */
import type { Postgres } from '../../postgres/client.ts'
import { registerClient } from '../../postgres/tables/members/oauth-clients.ts'
import type { Clock } from '../../runtime/clock.ts'
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import type { HttpRequest } from '../../runtime/http/server.ts'
import { parseJsonBody } from '../../schemas/json-body.ts'
import { isObject } from '../../schemas/json-object.ts'
import { clientNameLengthMax, redirectUrisMax } from '../../schemas/limits/oauth-limits.ts'
import { isPlainLine } from '../../schemas/plain-line.ts'
import { jsonType, noStore } from '../transports/rest.ts'
import { isAcceptableRedirect, shownTarget } from './redirect-uris.ts'
import { OAuthRefusal } from './refusal.ts'

interface Registering {
  readonly pg: Pick<Postgres, 'transaction'>
  readonly clock: Clock
}

/** @throws OAuthRefusal */
export async function register({ body, headers }: HttpRequest, { pg, clock }: Registering): Promise<HttpReply> {
  const parsed = jsonType.test(headers.get('content-type') ?? '') ? parseJsonBody(body) : undefined
  if (!parsed?.ok) throw new OAuthRefusal('invalid_client_metadata', 'The body must be JSON')
  const described = readClient(parsed.value)
  const now = clock.now()
  const client = await pg.transaction((tx) => registerClient(tx, described, now))
  if (client === null) throw new OAuthRefusal('server_error', 'No more apps can be registered')
  const answer = {
    client_id: client.id,
    client_id_issued_at: Math.floor(now / 1000),
    client_name: client.name,
    redirect_uris: client.redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  return jsonReply(201, answer, noStore)
}

/** Reads the part of a description that is kept. @throws OAuthRefusal */
function readClient(described: unknown): { readonly name: string; readonly redirectUris: string[] } {
  const {
    redirect_uris: uris,
    client_name: name,
    response_types: responses,
    grant_types: grants,
  } = isObject(described) ? described : ({} as Readonly<Record<string, unknown>>)
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > redirectUrisMax) {
    throw new OAuthRefusal('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${redirectUrisMax}`)
  }
  // Editors send those of all their editions, some of which are of schemes that nobody here knows.
  const acceptable = [...new Set(uris)].filter(
    (uri): uri is string => typeof uri === 'string' && isAcceptableRedirect(uri),
  )
  if (acceptable.length === 0) {
    throw new OAuthRefusal('invalid_redirect_uri', 'A redirect URI must be https, http on localhost, or an app’s own')
  }
  if (leavesOut(responses, 'code') || leavesOut(grants, 'authorization_code')) {
    throw new OAuthRefusal('invalid_client_metadata', 'Apps sign in with an authorization code alone')
  }
  return { name: nameIn(name) || shownTarget(acceptable[0]!), redirectUris: acceptable }
}

function leavesOut(list: unknown, needed: string): boolean {
  return list != null && !(Array.isArray(list) && list.includes(needed))
}

/** The name as it can be shown on one line: nobody gets to mend it. */
function nameIn(name: unknown): string {
  if (typeof name !== 'string') return ''
  const plain = [...name.toWellFormed()].filter(isPlainLine).join('').trim()
  return [...plain].slice(0, clientNameLengthMax).join('').trim()
}
