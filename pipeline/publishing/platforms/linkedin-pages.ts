/** Whose a token of LinkedIn is, and the pages that the person administers (its documentation: "Organization Access Control"). */
import { membersOf } from '../../../schemas/json-object.ts'
import { accountChoicesMax } from '../../../schemas/limits/publish-limits.ts'
import { ProviderError } from '../adapter.ts'
import { listIn, objectIn, textIn } from '../request.ts'
import { ask, pagePrefix, type Signed } from './linkedin-api.ts'

/** @throws ProviderError */
export async function describePerson(call: Signed) {
  const { body } = await ask(call, '/v2/userinfo')
  const [sub, name] = [textIn(body, 'sub'), textIn(body, 'name')]
  return { externalId: `urn:li:person:${sub}`, handle: `${name} (${sub})`, displayName: name }
}

export interface OwnPage {
  readonly externalId: string
  /** Its number. */
  readonly page: string
  readonly name: string
}

/** Other roles can't post. */
const postingRoles = ['ADMINISTRATOR', 'CONTENT_ADMINISTRATOR']

/** It needs the scope `r_organization_admin`. @throws ProviderError */
export async function listOwnPages(call: Signed): Promise<OwnPage[]> {
  const query = `q=roleAssignee&state=APPROVED&count=${accountChoicesMax}`
  const { body } = await ask(call, `/rest/organizationAcls?${query}`, { headers: { 'x-restli-method': 'FINDER' } })
  const roles = listIn(body, 'elements')
  const own = roles.filter(({ role }) => postingRoles.includes(String(role)))
  const urns = own.map(({ organization }) => String(organization)).filter((urn) => pageUrn.test(urn))
  const pages = [...new Set(urns)].map((urn) => urn.slice(pagePrefix.length))
  const names = await readNames(call, pages)
  return pages.map((page) => ({ externalId: pagePrefix + page, page, name: names(page) ?? page }))
}

const pageUrn = /^urn:li:organization:\d{1,15}$/

async function readNames(call: Signed, pages: readonly string[]): Promise<(page: string) => string | undefined> {
  if (pages.length === 0) return () => undefined
  try {
    const { body } = await ask(call, `/rest/organizations?ids=List(${pages.join()})`)
    const results = objectIn(body, 'results')
    return (page) => {
      const name = membersOf(results[page])['localizedName']
      return typeof name === 'string' && name !== '' ? name : undefined
    }
  } catch (error) {
    // They can be chosen by their numbers, too.
    if (error instanceof ProviderError && error.failure.kind === 'reauthenticate') return () => undefined
    throw error
  }
}
