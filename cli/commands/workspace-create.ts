import { createApiKey } from '../../postgres/tables/api-keys.ts'
import { createTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { createWorkspace, holdOwner, SlugTaken, slugPattern } from '../../postgres/tables/workspaces.ts'
import { workspaceNameLengthMax } from '../../schemas/limits/api-limits.ts'
import { scopes } from '../../schemas/scopes.ts'
import { timeZoneNamed } from '../../schemas/time/time-zone-name.ts'
import { auditCommand } from '../audit-command.ts'
import { defineCommand, UsageError } from '../command.ts'
import { planChoices, planOf } from '../plans.ts'

export const createWorkspaceWithKeys = defineCommand({
  name: 'workspace create',
  summary: 'Make a workspace with an owner, a tracking key and a secret key of all scopes, shown once.',
  options: {
    name: { value: 'NAME', meaning: 'What people call it.', isRequired: true },
    slug: { value: 'SLUG', meaning: 'Its short name: a-z, 0-9 and -; made from the name when left out.' },
    timezone: { value: 'TZ', meaning: 'IANA name in which its days begin; UTC when left out.' },
    plan: { value: 'PLAN', meaning: `${planChoices.join(', ')}; growth when left out.` },
    'owner-of': { value: 'ID', meaning: 'A workspace whose owner and plan it shares: one sign-in for both.' },
  },
  async run({ options, installation }) {
    const name = options.text('name', workspaceNameLengthMax)!
    const slug = options.text('slug')
    if (slug !== undefined && !slugPattern.test(slug)) {
      throw new UsageError(`--slug must be 1 to 60 of a-z, 0-9 and - and neither begin nor end with -, got \`${slug}\``)
    }
    const askedZone = options.text('timezone') ?? 'UTC'
    const timezone = timeZoneNamed(askedZone)
    if (timezone === undefined)
      throw new UsageError(`--timezone must be an IANA name such as Europe/Berlin, got \`${askedZone}\``)
    const wantedPlan = options.oneOf('plan', planChoices)
    const ownerOf = options.id('owner-of')
    if (ownerOf !== undefined && wantedPlan !== undefined)
      throw new UsageError('--owner-of excludes --plan: the plan is that of the owner, `svc plan set` changes it')
    const shared = ownerOf === undefined ? undefined : await installation.workspace(ownerOf)
    try {
      return await installation.postgres().transaction(async (tx) => {
        const owner = shared && (await holdOwner(tx, shared.id))
        const plan = owner ? owner.plan : planOf(wantedPlan ?? 'growth')
        const made = await createWorkspace(tx, { name, slug, timezone, plan, ownerEmail: owner?.email })
        const trackingKey = await createTrackingKey(tx, made.workspaceId)
        const key = await createApiKey(tx, { workspaceId: made.workspaceId, name: 'first key', scopes })
        await auditCommand(tx, made.workspaceId, 'workspace.create', made.workspaceId, { name, slug: made.slug, plan })
        await auditCommand(tx, made.workspaceId, 'api_key.create', key!.id, {
          name: 'first key',
          scopes,
          prefix: key!.prefix,
        })
        return { workspace_id: made.workspaceId, slug: made.slug, tracking_key: trackingKey, api_key: key!.apiKey }
      })
    } catch (error) {
      if (error instanceof SlugTaken) throw new UsageError(`--slug: ${error.message}`)
      throw error
    }
  },
  show: ({ workspace_id, slug, tracking_key, api_key }) =>
    `workspace ${workspace_id} (${slug})\ntracking key: ${tracking_key}\nsecret key (shown once): ${api_key}`,
})
