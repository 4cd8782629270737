/**
 * /dashboard/authorize: a person lets an app act for them over MCP. GET changes nothing. POST comes from our own page alone, names
 * the account that saw it, and takes an answer to a request once. Held by test/integration/oauth.test.ts.
 */

import { beginConnection } from '../../../postgres/tables/members/connected-apps.ts'
import { findClient } from '../../../postgres/tables/members/oauth-clients.ts'
import { listStandings } from '../../../postgres/tables/members/owner-sessions.ts'
import type { Authenticated, Standing } from '../../../postgres/tables/workspaces/api-keys.ts'
import type { RequestHead } from '../../../runtime/http/head.ts'
import type { HttpReply } from '../../../runtime/http/reply.ts'
import type { HttpRequest } from '../../../runtime/http/server.ts'
import { authorizePath } from '../../oauth/metadata.ts'
import type { PageContext } from '../page-context.ts'
import { factorPath } from '../second-factor/account-page.ts'
import { findSignedIn } from '../session.ts'
import { leadingOn, pageAfter, redirect, signInFor } from '../sign-in.ts'
import { type Consenting, type ConsentNote, consentPage, faultPage, leadBack } from './page.ts'
import { type AppRequest, readAppRequest, unknownApp } from './request.ts'

interface AuthorizeContext extends PageContext {
  readonly config: { readonly apiHost: string }
}

export function makeAuthorize({ pg, clock, authenticator, audit, config }: AuthorizeContext) {
  function read(sent: URLSearchParams) {
    const find = (id: string) => findClient(pg, id, new Date(clock.now()))
    return readAppRequest(sent, { find, apiHost: config.apiHost })
  }

  async function show(head: RequestHead): Promise<HttpReply> {
    const sent = new URLSearchParams(head.query)
    const request = await read(sent)
    if ('fault' in request) return faultPage(request)
    const asked = `${authorizePath}?${head.query}`
    if (pageAfter(asked) !== asked) return faultPage({ fault: 'The app’s request is too long.' })
    const session = await findSignedIn(authenticator, head)
    if (session === null) return redirect(signInFor(head))
    return showTo(session, request, Number(sent.get('workspace')))
  }

  /** @param wished the workspace, if the account is in it; else that of its session */
  async function showTo(
    session: Authenticated,
    request: AppRequest,
    wished: number,
    note?: ConsentNote,
  ): Promise<HttpReply> {
    const standings = await findUsable(session.ownerId)
    const idOf = ({ workspace }: Standing) => workspace.id
    const chosen =
      standings.find((one) => idOf(one) === wished) ??
      standings.find((one) => idOf(one) === session.workspace.id) ??
      standings[0]
    if (chosen === undefined) return faultPage({ fault: 'You are a member of no workspace that is in use.' })
    if (chosen.lacksFactor) return leadToFactor(request, idOf(chosen))
    const named = ({ workspace: { id, name } }: Standing) => ({ id, name })
    const others = standings.filter((one) => one !== chosen).map(named)
    const account = { id: session.ownerId, email: session.name }
    return consentPage({ request, account, workspace: named(chosen), others, scopes: heldOf(request, chosen) }, note)
  }

  async function findUsable(ownerId: number): Promise<Standing[]> {
    return (await listStandings(pg, ownerId)).filter(({ workspace }) => workspace.suspended_at === null)
  }

  async function answer(http: HttpRequest): Promise<HttpReply> {
    const form = new URLSearchParams(http.body.toString())
    const request = await read(form)
    if ('fault' in request) return faultPage(request)
    const session = await findSignedIn(authenticator, http)
    const workspaceId = Number(form.get('workspace'))
    if (session === null) return redirect(signInFor({ path: authorizePath, query: queryOf(request, workspaceId) }))
    const again = (note: ConsentNote) => showTo(session, request, workspaceId, note)
    if (form.get('account') !== String(session.ownerId)) return again('moved')
    if (form.get('answer') !== 'allow') return leadBack(request.answer({ error: 'access_denied' }), false)
    const standing = (await findUsable(session.ownerId)).find(({ workspace }) => workspace.id === workspaceId)
    if (standing === undefined) return again('denied')
    if (standing.lacksFactor) return leadToFactor(request, workspaceId)
    const chosen = form.getAll('scopes')
    const scopes = heldOf(request, standing).filter((scope) => chosen.includes(scope))
    if (scopes.length === 0) return again('none')
    const code = await connect(http, session, { request, workspaceId, scopes })
    if (code === 'forgotten') return faultPage(unknownApp)
    return code === 'answered' || code === 'denied' ? again(code) : leadBack(request.answer({ code }), true)
  }

  function connect(
    http: HttpRequest,
    { ownerId, name: email }: Authenticated,
    { request, workspaceId, scopes }: Pick<Consenting, 'request' | 'scopes'> & { readonly workspaceId: number },
  ): Promise<string> {
    const { client, redirectUri, challenge } = request
    const consent = {
      clientId: client.id,
      clientName: client.name,
      redirectUri,
      challenge,
      workspaceId,
      ownerId,
      scopes,
    }
    return pg.transaction(async (tx) => {
      const begun = await beginConnection(tx, consent, clock.now())
      if (typeof begun === 'string') return begun
      const ended = begun.endedIds.length > 0 && { ended_connected_app_ids: begun.endedIds }
      const metadata = { connected_app_id: begun.id, scopes, ...ended }
      await audit(tx, http, { workspaceId, ownerId, email, action: 'member.connect_app', metadata })
      return begun.code
    })
  }

  return { show, answer }
}

/** The person comes back to the consent, for the same workspace, once the factor is set up. */
function leadToFactor(request: AppRequest, workspaceId: number): HttpReply {
  return redirect(leadingOn(factorPath, `${authorizePath}?${queryOf(request, workspaceId)}`))
}

function queryOf({ fields }: AppRequest, workspaceId: number): string {
  return new URLSearchParams([...fields.map(([...field]) => field), ['workspace', String(workspaceId)]]).toString()
}

/** The part of what the app asks for that the member's role has. */
function heldOf({ scopes }: AppRequest, standing: Standing) {
  return scopes.filter((scope) => standing.scopes.includes(scope))
}
