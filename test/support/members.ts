/** Members of a workspace: invited by its owner, and joined by the link, each from an address and with an e-mail of its own. */
import { expect } from 'vitest'
import { createSignInLink } from '../../postgres/tables/members/owner-sessions.ts'
import { type GivenRole, givenRoles, type Role } from '../../schemas/roles.ts'
import type { TestApi } from './api.ts'
import type { TestStores } from './stores.ts'
import type { TestWorkspace } from './workspace.ts'

export const fromOwnPage = { 'Sec-Fetch-Site': 'same-origin' }
export const memberPassword = 'correct horse "1"'

interface Served {
  readonly stores: Pick<TestStores, 'pg'>
  readonly api: TestApi
  /** By the clock that the API has. */
  now?(): number
}

interface Body {
  readonly id: number
  readonly url: string
  readonly detail: string
}

let people = 0

export function setUpMembers({ stores, api, now = Date.now }: Served) {
  const cookieOf = (response: Response) => response.headers.get('set-cookie')!.split(';')[0]!

  /** Asks under `/api/v1` with a session. */
  const askAs =
    (cookie: string) =>
    async <Shown = Body>(method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
      const type = body && { 'Content-Type': 'application/json' }
      const init = { method, headers: { cookie, ...fromOwnPage, ...type, ...headers }, body: JSON.stringify(body) }
      const answer = await api.ask(`/api/v1${path}`, body ? init : { ...init, body: null })
      return { status: answer.status, body: (await answer.json()) as Shown }
    }

  async function signInOwner({ workspaceId }: Pick<TestWorkspace, 'workspaceId'>) {
    const token = await createSignInLink(stores.pg, workspaceId, now())
    return askAs(cookieOf(await api.ask(`/dashboard/sign-in?token=${token}`)))
  }

  /** @returns the link's token */
  async function invite(workspace: Pick<TestWorkspace, 'workspaceId'>, email: string, role: GivenRole) {
    const { status, body } = await (await signInOwner(workspace))('POST', '/invitations', { email, role })
    expect([status, body.detail]).toEqual([200, undefined])
    return { id: body.id, token: new URL(body.url).searchParams.get('token')! }
  }

  /** Posts a form of the dashboard, from an address that nobody else has. */
  function post(path: string, fields: Record<string, string>, headers: Record<string, string> = fromOwnPage) {
    people += 1
    const address = `198.51.${100 + (people >> 8)}.${people & 255}`
    return api.ask(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'X-Forwarded-For': address, ...headers },
    })
  }

  const join = (token: string, password = memberPassword, headers?: Record<string, string>) =>
    post('/dashboard/join', { token, password, again: password }, headers)

  async function makeMember(
    workspace: Pick<TestWorkspace, 'workspaceId'>,
    role: GivenRole,
    email = `${role}${++people}@example.com`,
  ) {
    const { token } = await invite(workspace, email, role)
    const joined = await join(token)
    expect([joined.status, joined.headers.get('location')]).toEqual([303, '/dashboard'])
    const cookie = cookieOf(joined)
    const [{ id } = { id: 0 }] = await stores.pg.query<{ id: number }>('SELECT id FROM owners WHERE email = $1', [
      email,
    ])
    return { id, email, cookie, ask: askAs(cookie) }
  }

  /** Sessions of each role in a workspace. */
  async function askAsEach(workspace: Pick<TestWorkspace, 'workspaceId'>) {
    const asks: Partial<Record<Role, ReturnType<typeof askAs>>> = { owner: await signInOwner(workspace) }
    for (const role of givenRoles) asks[role] = (await makeMember(workspace, role)).ask
    return asks as Record<Role, ReturnType<typeof askAs>>
  }

  return { askAs, cookieOf, signInOwner, invite, post, join, makeMember, askAsEach }
}
