/**
 * Endpoints for apps that sign in by OAuth: metadata, registration, tokens. People see `/dashboard/authorize` alone
 * (api/dashboard/authorize/). Nothing here reads a cookie. Decision 0052; held by test/integration/oauth.test.ts.
 */
import type { Postgres } from '../../postgres/client.ts'
import type { RequestHead } from '../../runtime/http/head.ts'
import { type HttpReply, jsonReply } from '../../runtime/http/reply.ts'
import type { HttpRequest, NoRoute, Route } from '../../runtime/http/server.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { registrationBytesMax, tokenRequestBytesMax } from '../../schemas/limits/oauth-limits.ts'
import type { SignInLimiter } from '../guards/rate-limit.ts'
import { addressOf, problemReply, type RestGateway, redirectReply } from '../transports/rest.ts'
import {
  describeResource,
  describeServer,
  registerPath,
  resourcePaths,
  revokePath,
  serverPath,
  tokenPath,
} from './metadata.ts'
import { OAuthRefusal, refusalReply } from './refusal.ts'
import { register } from './register.ts'
import { answerToken, revoke } from './tokens.ts'

interface OAuthStores {
  readonly pg: Pick<Postgres, 'query' | 'transaction'>
  readonly signInLimiter: SignInLimiter
}

/** Caches may keep metadata for so long. */
const metadataSeconds = 300

/** Apps may run in a page, as MCP's Inspector does. Any origin is safe, because no endpoint here reads a cookie. */
const anyOrigin = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' }
const preflightReply: HttpReply = {
  status: 204,
  headers: {
    ...anyOrigin,
    'Access-Control-Allow-Methods': 'GET, POST',
    'Access-Control-Allow-Headers': 'Content-Type, MCP-Protocol-Version',
    'Access-Control-Max-Age': '86400',
  },
}

interface Endpoint {
  readonly label: string
  readonly bytesMax: number
  readonly counted: Parameters<SignInLimiter['takeApp']>[0]
  answer(request: HttpRequest): Promise<HttpReply>
}

/** Returns undefined for other paths. */
export function makeOAuthRoute(gateway: RestGateway, { pg, signInLimiter }: OAuthStores) {
  const { clock, config, log } = gateway
  const documents: Readonly<Record<string, () => object>> = {
    [resourcePaths[0]]: () => describeResource(config.apiHost),
    [resourcePaths[1]]: () => describeResource(config.apiHost),
    [serverPath]: () => describeServer(config.apiHost),
  }
  const context = { pg, clock, config, log }
  const endpoints: Readonly<Record<string, Endpoint>> = {
    [registerPath]: {
      label: 'oauth.register',
      bytesMax: registrationBytesMax,
      counted: 'registration',
      answer: (request) => register(request, context),
    },
    [tokenPath]: {
      label: 'oauth.token',
      bytesMax: tokenRequestBytesMax,
      counted: 'token',
      answer: (request) => answerToken(request, context),
    },
    [revokePath]: {
      label: 'oauth.revoke',
      bytesMax: tokenRequestBytesMax,
      counted: 'token',
      answer: (request) => revoke(request, context),
    },
  }

  async function handle({ counted, answer }: Endpoint, request: HttpRequest): Promise<HttpReply> {
    try {
      const waitMs = await signInLimiter.takeApp(counted, addressOf(request, gateway))
      if (waitMs > 0) throw new OAuthRefusal('temporarily_unavailable', 'Too many requests. Try again later.', waitMs)
      return await answer(request)
    } catch (error) {
      if (error instanceof OAuthRefusal) return refusalReply(error)
      if (error instanceof StoreUnavailable) {
        log.warn({ err: error, requestId: request.requestId }, 'a store is away')
        return refusalReply(new OAuthRefusal('server_error', 'A store of the service is away. Try again later.'))
      }
      throw error
    }
  }

  return function route({ path, method, query }: RequestHead): Route | NoRoute | undefined {
    const bare = path.endsWith('/') ? path.slice(0, -1) : ''
    if (Object.hasOwn(documents, bare) || Object.hasOwn(endpoints, bare)) {
      return { label: 'none', reply: redirectReply(path, query) }
    }
    const document = Object.hasOwn(documents, path) ? documents[path] : undefined
    if (document !== undefined) {
      const label = 'oauth.metadata'
      if (method === 'OPTIONS') return { label, reply: preflightReply }
      if (method !== 'GET' && method !== 'HEAD') return refused(label, 'GET, HEAD')
      const headers = { ...anyOrigin, 'Cache-Control': `public, max-age=${metadataSeconds}` }
      return { label, bodyBytesMax: 0, handle: () => jsonReply(200, document(), headers) }
    }
    const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined
    if (endpoint === undefined) return undefined
    const { label, bytesMax } = endpoint
    if (method === 'OPTIONS') return { label, reply: preflightReply }
    if (method !== 'POST') return refused(label, 'POST')
    const handleOpenly = async (request: HttpRequest) => {
      const { headers, ...reply } = await handle(endpoint, request)
      return { ...reply, headers: { ...anyOrigin, ...headers } }
    }
    return { label, bodyBytesMax: bytesMax, handle: handleOpenly }
  }
}

function refused(label: string, allow: string): NoRoute {
  return { label, reply: problemReply('method_not_allowed', { Allow: allow }) }
}
