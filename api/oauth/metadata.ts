/** Documents that apps read before they sign in: whom `/mcp` trusts (RFC 9728), and how that one is asked (RFC 8414). */
import { scopes } from '../../schemas/scopes.ts'

const resourcePath = '/.well-known/oauth-protected-resource'
export const serverPath = '/.well-known/oauth-authorization-server'
/** The first is where clients look that don't read the challenge; both are the same document. */
export const resourcePaths = [resourcePath, `${resourcePath}/mcp`] as const

/** The page on which a person consents: below the dashboard, so that signing in leads back to it. */
export const authorizePath = '/dashboard/authorize'
export const registerPath = '/oauth/register'
export const tokenPath = '/oauth/token'
export const revokePath = '/oauth/revoke'

/** The one resource that tokens are for. */
export function resourceOf(apiHost: string): string {
  return `${apiHost}/mcp`
}

/** The query chooses toolsets: with and without one it is the same resource. */
export function isOwnResource(resource: string, apiHost: string): boolean {
  return resource.replace(/\?.*$/s, '').replace(/\/$/, '') === resourceOf(apiHost)
}

export function describeResource(apiHost: string): object {
  return {
    resource: resourceOf(apiHost),
    authorization_servers: [apiHost],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    resource_name: 'svc',
    resource_documentation: `${apiHost}/guides/mcp`,
  }
}

export function describeServer(apiHost: string): object {
  return {
    issuer: apiHost,
    authorization_endpoint: apiHost + authorizePath,
    token_endpoint: apiHost + tokenPath,
    registration_endpoint: apiHost + registerPath,
    revocation_endpoint: apiHost + revokePath,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${apiHost}/guides/mcp`,
  }
}

/** `WWW-Authenticate` of a 401. It names no scopes: a person chooses them. @param isTokenBad one was sent */
export function challengeOf(apiHost: string, isTokenBad: boolean): string {
  const error = isTokenBad ? ', error="invalid_token"' : ''
  return `Bearer resource_metadata="${apiHost}${resourcePaths[1]}"${error}`
}
