/** Traffic that a workspace leaves out. */
import { readExclusions, replaceExclusions } from '../../../postgres/tables/workspaces/exclusions.ts'
import { lockWorkspace } from '../../../postgres/tables/workspaces/workspaces.ts'
import { isPublicSender } from '../../../runtime/outbound/public-address.ts'
import { readAddressRange } from '../../../schemas/exclusions.ts'
import { Exclusions, ExclusionsForCaller, ExclusionsUpdate } from '../../../schemas/resources/exclusions.ts'
import { defineOperation } from '../define.ts'

export const getExclusions = defineOperation({
  name: 'exclusions.get',
  http: { method: 'GET', path: '/v1/exclusions' },
  tool: 'svc.get_exclusions',
  toolset: 'analytics',
  summary: 'Get the rules by which traffic is left out.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: {},
  output: ExclusionsForCaller,
  handle: async ({ workspace, address, stores: { pg } }) => ({
    ...(await readExclusions(pg, workspace.id)),
    caller_address: entryOf(address),
  }),
})

/** The answer has no address of the caller: repeats under an `Idempotency-Key` are stored. */
export const updateExclusions = defineOperation({
  name: 'exclusions.update',
  http: { method: 'PATCH', path: '/v1/exclusions' },
  tool: 'svc.update_exclusions',
  toolset: 'analytics',
  summary: 'Replace lists of the rules by which traffic is left out. Lists that are not sent stay.',
  description: 'It holds for events that come in from some seconds later on. Those that are stored stay.',
  tag: 'Analytics',
  effect: 'update',
  scope: 'analytics:write',
  input: { body: ExclusionsUpdate },
  output: Exclusions,
  async handle({ body, workspace, stores: { pg } }) {
    await lockWorkspace(pg, workspace.id)
    const before = await readExclusions(pg, workspace.id)
    const { addresses, countries, paths, hostnames } = body
    await replaceExclusions(pg, workspace.id, {
      addresses: addresses ?? before.addresses,
      countries: countries ?? before.countries,
      paths: paths ?? before.paths,
      hostnames: hostnames ?? before.hostnames,
    })
    return readExclusions(pg, workspace.id)
  },
})

/**
 * A browser changes the second half of its IPv6 address every day. A local address isn't taken. It belongs to a proxy
 * that `TRUSTED_PROXIES` doesn't name, and would leave everybody out.
 */
function entryOf(address: string): string | null {
  if (!isPublicSender(address)) return null
  const read = readAddressRange(address.includes(':') ? `${address}/64` : address)
  return 'entry' in read ? read.entry : null
}
