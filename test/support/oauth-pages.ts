/** A platform's page at which somebody agrees to an app (OAuth 2.0), and the exchange of its code. Each parameter is checked as the real ones do. */
import { createHash, randomBytes } from 'node:crypto'
import type { Answered, Asking } from './provider-server.ts'

export interface RegisteredApp {
  readonly secret: string
  readonly redirect: string
}

interface OAuthServer {
  /** Address of the page, without a query. */
  page(): string
  /** Apps by their ids. */
  readonly apps: ReadonlyMap<string, RegisteredApp>
  /** Those that an app may ask for. */
  readonly scopes: readonly string[]
  readonly separator?: string
  readonly idField?: string
  readonly isBasic?: boolean
  readonly takesProof?: boolean
  /** Further parameters that the page takes, and has to have. */
  readonly more?: Readonly<Record<string, string>>
  /** Stands behind the address that the platform sends the browser to, and among its parameters. */
  readonly tail?: string
  readonly sends?: Readonly<Record<string, string>>
  /** The answer to a good code. @param scope as it was asked for */
  tokens(scope: string): object
}

export interface OAuthPages {
  /** The person agrees, and the browser is sent to this address. @throws where the real one shows a fault */
  agree(address: string): string
  decline(address: string): string
  /** Undefined: it is no form with a code. */
  exchange(asking: Asking): Answered | undefined
}

export function makeOAuthPages(server: OAuthServer): OAuthPages {
  const { apps, scopes, separator = ' ', idField = 'client_id', takesProof = false, more = {}, tail = '' } = server
  const codes = new Map<string, { id: string; challenge: string; scope: string }>()

  function read(address: string) {
    const url = new URL(address)
    const { response_type, redirect_uri, state = '', scope = '', ...others } = Object.fromEntries(url.searchParams)
    const { [idField]: id = '', code_challenge: challenge = '', code_challenge_method: method, ...rest } = others
    const fault = (name: string) => new Error(`the page refuses ${name} of ${address}`)
    if (url.origin + url.pathname !== server.page()) throw fault('the address')
    if (apps.get(id) === undefined || redirect_uri !== apps.get(id)!.redirect) throw fault('app or redirect_uri')
    if (response_type !== 'code' || state.length < 32) throw fault('response_type or state')
    if (scope === '' || !scope.split(separator).every((one) => scopes.includes(one))) throw fault('scope')
    const isProof = challenge.length === 43 && method === 'S256'
    if (takesProof ? !isProof : challenge !== '') throw fault('code_challenge')
    if (JSON.stringify(Object.entries(rest).sort()) !== JSON.stringify(Object.entries(more).sort())) throw fault('more')
    return { id, redirect: redirect_uri, state, challenge, scope }
  }

  function agree(address: string): string {
    const { id, redirect, state, challenge, scope } = read(address)
    const code = randomBytes(20).toString('base64url')
    codes.set(code, { id, challenge, scope })
    return `${redirect}?${new URLSearchParams({ code, state, ...server.sends })}${tail}`
  }

  function decline(address: string): string {
    const { redirect, state } = read(address)
    const said = { error: 'access_denied', error_description: 'The user denied the request' }
    return `${redirect}?${new URLSearchParams({ ...said, state })}`
  }

  function exchange({ bytes, headers }: Asking): Answered | undefined {
    const form = Object.fromEntries(new URLSearchParams(bytes.toString()))
    const { grant_type, code = '', redirect_uri, code_verifier: verifier = '', ...others } = form
    if (grant_type !== 'authorization_code') return undefined
    const refuse = (error: string, status = 400): Answered => ({ status, body: { error, error_description: error } })
    const known = codes.get(code)
    if (known === undefined) return refuse('invalid_grant')
    // A code that was sent is used, whatever comes of it.
    codes.delete(code)
    const { secret, redirect } = apps.get(known.id)!
    const basic = `Basic ${Buffer.from(`${known.id}:${secret}`).toString('base64')}`
    const keys = server.isBasic ? {} : { [idField]: known.id, client_secret: secret }
    const isApp = JSON.stringify(Object.entries(others).sort()) === JSON.stringify(Object.entries(keys).sort())
    if (!isApp || (server.isBasic && headers['authorization'] !== basic)) return refuse('invalid_client', 401)
    const proof = createHash('sha256').update(verifier).digest('base64url')
    if (redirect_uri !== redirect || (takesProof ? proof !== known.challenge : verifier !== '')) {
      return refuse('invalid_grant')
    }
    return { status: 200, body: server.tokens(known.scope) }
  }

  return { agree, decline, exchange }
}

/** The redirect address of the API of tests. */
export const testRedirect = 'https://api.example.com/dashboard/connect'
