/** Short domains of a workspace. */
import { z } from 'zod'
import {
  findDomain,
  hasActiveLinks,
  insertDomain,
  isHostOfOthers,
  listDomains,
  lockDomain,
  noteCheck,
  removeDomain,
  updateDomain,
} from '../../../postgres/tables/links/short-domains.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import type { TxtAnswer } from '../../../runtime/outbound/txt-records.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { makeLinkToken } from '../../../schemas/keys.ts'
import { idInPath } from '../../../schemas/lax.ts'
import { shortDomainsMax } from '../../../schemas/limits/domain-limits.ts'
import { ShortDomain, ShortDomainCreate, ShortDomainUpdate } from '../../../schemas/resources/short-domain.ts'
import { type DomainFailure, proofOf } from '../../../schemas/short-domain.ts'
import { defineOperation } from '../define.ts'
import { isOwnHost, requireUsableHost } from './hosts.ts'
import { requireNoLoop } from './loops.ts'
import { serializeDomain } from './serialize.ts'

const path = z.object({ domain_id: idInPath('domain') })

export const listShortDomains = defineOperation({
  name: 'domain.list',
  http: { method: 'GET', path: '/v1/domains' },
  tool: 'svc.list_short_domains',
  toolset: 'links',
  summary: 'List the short domains, by host.',
  tag: 'Links',
  effect: 'read',
  scope: 'links:read',
  input: {},
  output: z.array(ShortDomain),
  handle: async ({ workspace, stores: { pg } }) => (await listDomains(pg, workspace.id)).map(serializeDomain),
})

export const createShortDomain = defineOperation({
  name: 'domain.create',
  http: { method: 'POST', path: '/v1/domains' },
  tool: 'svc.create_short_domain',
  toolset: 'links',
  summary: 'Add a short domain: a host of your own for short links.',
  description: 'It serves once a TXT record has proven it.',
  tag: 'Links',
  effect: 'create',
  scope: 'links:write',
  input: { body: ShortDomainCreate },
  output: ShortDomain,
  problems: ['domains_full', 'domain_known', 'domain_taken'],
  async handle(context) {
    const { body, workspace, config } = context
    const { pg } = context.stores
    requireUsableHost(body.host, config)
    await lockWorkspace(pg, workspace.id)
    const known = await listDomains(pg, workspace.id)
    await requireNoLoop(body.host, body, known, context)
    if (known.some(({ host }) => host === body.host)) throw problem('domain_known')
    if (known.length >= shortDomainsMax) throw problem('domains_full')
    if (await isHostOfOthers(pg, workspace.id, body.host)) throw problem('domain_taken')
    const domain = await insertDomain(pg, workspace.id, { ...body, token: makeLinkToken() })
    if (domain === null) throw problem('domain_known')
    return serializeDomain(domain)
  },
})

export const changeShortDomain = defineOperation({
  name: 'domain.update',
  http: { method: 'PATCH', path: '/v1/domains/{domain_id}' },
  tool: 'svc.update_short_domain',
  toolset: 'links',
  summary: 'Change where the root and unknown keys of a short domain lead.',
  description: 'Fields left out stay.',
  tag: 'Links',
  effect: 'update',
  scope: 'links:write',
  input: { path, body: ShortDomainUpdate },
  output: ShortDomain,
  problems: ['domain_not_found'],
  async handle(context) {
    const { path, body, workspace } = context
    const { pg } = context.stores
    await lockWorkspace(pg, workspace.id)
    const domain = await lockDomain(pg, workspace.id, path.domain_id)
    if (domain === null) throw problem('domain_not_found')
    await requireNoLoop(domain.host, body, await listDomains(pg, workspace.id), context)
    const { root_url = domain.root_url, not_found_url = domain.not_found_url } = body
    return serializeDomain(await updateDomain(pg, domain.id, { root_url, not_found_url }))
  },
})

export const verifyShortDomain = defineOperation({
  name: 'domain.verify',
  http: { method: 'POST', path: '/v1/domains/{domain_id}/verify' },
  tool: 'svc.verify_short_domain',
  toolset: 'links',
  summary: 'Look for the TXT record that proves a short domain.',
  description: 'A check that fails says why in `failure`. A verified domain stays so.',
  tag: 'Links',
  effect: 'update',
  isIdempotent: false,
  scope: 'links:write',
  input: { path },
  output: ShortDomain,
  problems: ['domain_not_found'],
  async prepare({ path: { domain_id }, workspace, stores: { pg, readTxt } }) {
    const domain = await findDomain(pg, workspace.id, domain_id)
    if (domain === null) throw problem('domain_not_found')
    const { name, value } = proofOf(domain.host, domain.token)
    return { token: domain.token, failure: failureOf(await readTxt(name), value) }
  },
  async handle({ path: { domain_id }, workspace, stores: { pg }, prepared: { token, failure }, config }) {
    const domain = await lockDomain(pg, workspace.id, domain_id)
    // Removed, or removed and added again, while the DNS was asked.
    if (domain === null || domain.token !== token) throw problem('domain_not_found')
    const isTaken = isOwnHost(domain.host, config) || (await isHostOfOthers(pg, workspace.id, domain.host))
    return serializeDomain(await noteCheck(pg, domain.id, failure === null && isTaken ? 'host_taken' : failure))
  },
})

export const removeShortDomain = defineOperation({
  name: 'domain.delete',
  http: { method: 'DELETE', path: '/v1/domains/{domain_id}' },
  tool: 'svc.delete_short_domain',
  toolset: 'links',
  summary: 'Remove a short domain under which no active link stands.',
  description: 'Archived links under it lead nowhere from then on.',
  tag: 'Links',
  effect: 'delete',
  scope: 'links:write',
  input: { path },
  output: ShortDomain,
  problems: ['domain_not_found', 'domain_in_use'],
  async handle({ path: { domain_id }, workspace, stores: { pg } }) {
    const domain = await lockDomain(pg, workspace.id, domain_id)
    if (domain === null) throw problem('domain_not_found')
    if (await hasActiveLinks(pg, domain.id)) throw problem('domain_in_use')
    await removeDomain(pg, domain.id)
    return serializeDomain(domain)
  },
})

function failureOf(answer: TxtAnswer, wanted: string): DomainFailure | null {
  if (answer === 'timeout') return 'dns_timeout'
  if (answer === 'failed') return 'dns_failed'
  if (answer.some((text) => isRecordOf(text, wanted))) return null
  return answer.length === 0 ? 'record_missing' : 'record_different'
}

/**
 * Some hosts of DNS store the quotes that were typed around a value. Strangers write records of up to 64 KiB, so the time is
 * linear: an expression that cuts a text's end begins anew at each blank in it.
 */
function isRecordOf(text: string, value: string): boolean {
  const around = text.split(value)
  return around.length === 2 && around.every((part) => /^[\s"]*$/.test(part))
}
