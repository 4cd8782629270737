/** An app that signs in by OAuth, step by step as a client does, and the person who lets it in. */
import { createHash, randomBytes } from 'node:crypto'
import type { TestApi } from './api.ts'
import { fromOwnPage } from './members.ts'

export const callback = 'https://app.example/callback'

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
  readonly expires_in: number
}

export interface PlayedApp {
  readonly clientId: string
  readonly verifier: string
  /** The query of its request. */
  readonly asked: URLSearchParams
}

export function setUpApps(api: TestApi, host: string) {
  const json = { 'Content-Type': 'application/json' }
  const register = (described: object, headers: Record<string, string> = {}) =>
    api.ask('/oauth/register', { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(described) })

  async function makeApp(more: Record<string, string> = {}, described: object = {}): Promise<PlayedApp> {
    const answer = await register({ client_name: 'Helper', redirect_uris: [callback], ...described })
    const { client_id: clientId } = (await answer.json()) as { client_id: string }
    const verifier = randomBytes(32).toString('base64url')
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: callback,
      state: 's t&1',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${host}/mcp`,
      ...more,
    })
    return { clientId, verifier, asked }
  }

  const open = (cookie: string, asked: URLSearchParams | string) =>
    api.ask(`/dashboard/authorize?${asked}`, { headers: { cookie } })

  /** The form as the page shows it, with what is checked. */
  async function formOf(page: Response): Promise<URLSearchParams> {
    const text = await page.text()
    const [, form = ''] = /<form class="panel editor"(.*?)<\/form>/s.exec(text) ?? []
    const inputs = [...form.matchAll(/<input type="(hidden|checkbox)" name="(\w+)" value="([^"]*)"( checked)?>/g)]
    const sent = inputs.filter(([, type, , , checked]) => type === 'hidden' || checked !== undefined)
    return new URLSearchParams(
      sent.map(([, , name, value]): [string, string] => [name!, value!.replaceAll('&amp;', '&')]),
    )
  }

  const send = (cookie: string, form: URLSearchParams, headers: Record<string, string> = fromOwnPage) =>
    api.ask('/dashboard/authorize', { method: 'POST', headers: { cookie, ...headers }, body: form })

  /** @returns where the browser goes */
  async function consent(cookie: string, asked: URLSearchParams, answer = 'allow', scopes: readonly string[] = []) {
    const form = await formOf(await open(cookie, asked))
    for (const scope of scopes) form.append('scopes', scope)
    form.append('answer', answer)
    const refresh = (await send(cookie, form)).headers.get('refresh') ?? ''
    return new URL(refresh.replace('0;url=', ''))
  }

  const post = (path: string, fields: Record<string, string>) =>
    api.ask(path, { method: 'POST', body: new URLSearchParams(fields) })

  const exchange = ({ clientId, verifier }: PlayedApp, code: string, more: Record<string, string> = {}) =>
    post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      code_verifier: verifier,
      redirect_uri: callback,
      resource: `${host}/mcp`,
      ...more,
    })

  const refresh = ({ clientId }: Pick<PlayedApp, 'clientId'>, token: string) =>
    post('/oauth/token', { grant_type: 'refresh_token', refresh_token: token, client_id: clientId })

  /** From nothing to tokens. */
  async function connect(cookie: string, scopes?: readonly string[]) {
    const app = await makeApp()
    const code = (await consent(cookie, app.asked, 'allow', scopes)).searchParams.get('code')!
    const tokens = (await (await exchange(app, code)).json()) as Tokens
    return { ...app, code, ...tokens }
  }

  return { register, makeApp, open, formOf, send, consent, post, exchange, refresh, connect }
}
