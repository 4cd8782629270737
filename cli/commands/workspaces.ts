/** Workspaces: made, listed, changed, deleted; and the plan of their owner. */

import { createInterface } from 'node:readline/promises'
import { deleteWorkspaces } from '../../pipeline/retention/delete-workspaces.ts'
import { requireSecondFactor } from '../../postgres/tables/members/required-factors.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { createTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import { readDeletion, requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import {
  changeWorkspace,
  createWorkspace,
  listWorkspaces,
  lockOwner,
  readWorkspace,
  SlugTaken,
  setPlan,
  slugPattern,
} from '../../postgres/tables/workspaces/workspaces.ts'
import { makeLog } from '../../runtime/log.ts'
import { sleep } from '../../runtime/retry.ts'
import { workspaceNameLengthMax } from '../../schemas/limits/api-limits.ts'
import { creditWindowMs } from '../../schemas/limits/figure-limits.ts'
import { retentionDaysMax } from '../../schemas/limits/retention-limits.ts'
import { isCurrency } from '../../schemas/revenue.ts'
import { scopes } from '../../schemas/scopes.ts'
import { readableDays } from '../../schemas/time/readable-from.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, UsageError, workspaceOption } from '../command.ts'
import { planChoices, planOf } from '../plans.ts'
import { tableOr } from '../table.ts'

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
    const timezone = options.timeZone('timezone') ?? 'UTC'
    const wantedPlan = options.oneOf('plan', planChoices)
    const ownerOf = options.id('owner-of')
    if (ownerOf !== undefined && wantedPlan !== undefined)
      throw new UsageError('--owner-of excludes --plan: the plan is that of the owner, `svc plan set` changes it')
    const shared = ownerOf === undefined ? undefined : await installation.workspace(ownerOf)
    try {
      return await installation.postgres().transaction(async (tx) => {
        const owner = shared && (await lockOwner(tx, shared.id))
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

export const listAllWorkspaces = defineCommand({
  name: 'workspace list',
  summary: 'List all workspaces, oldest first.',
  options: {},
  run: ({ installation }) => listWorkspaces(installation.postgres()),
  show: (workspaces) =>
    tableOr(
      'no workspaces',
      ['id', 'slug', 'name', 'timezone', 'plan', 'retention'],
      workspaces.map((one) => [
        String(one.id),
        one.slug,
        one.name,
        one.timezone,
        one.plan_key ?? 'none',
        one.retention_days === null || isBeyondPlan(one) ? 'by plan' : `${one.retention_days} days`,
      ]),
    ),
})

export const setWorkspace = defineCommand({
  name: 'workspace set',
  summary: "Change a workspace's settings; what isn't named stays.",
  options: {
    workspace: workspaceOption,
    'retention-days': {
      value: 'N',
      meaning: "Days that analytics are kept, where that is less than the plan's; `plan` for all of them.",
    },
    timezone: { value: 'TZ', meaning: 'IANA name in which its days begin.' },
    currency: { value: 'C', meaning: 'ISO 4217 code of its totals.' },
    replay: { value: 'on|off', meaning: 'Whether sessions are recorded.' },
    'replay-share': { value: 'N', meaning: 'Sessions of a hundred that are recorded while replay is on.' },
    'second-factor': {
      value: 'required|optional',
      meaning: 'Whether the dashboard refuses members without a second factor.',
    },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const changes = {
      retentionDays: readRetention(options),
      timezone: options.timeZone('timezone'),
      currency: readCurrency(options),
      replayEnabled: options.either('replay', 'on', 'off'),
      replayShare: options.count('replay-share', 100),
    }
    const isRequired = options.either('second-factor', 'required', 'optional')
    const hasChanges = Object.values(changes).some((value) => value !== undefined)
    if (!hasChanges && isRequired === undefined) {
      throw new UsageError(
        'nothing to set: name --retention-days, --timezone, --currency, --replay, --replay-share or --second-factor',
      )
    }
    const workspace = await installation.workspace(id)
    return installation.postgres().transaction(async (tx) => {
      if (isRequired !== undefined) {
        if (!(await requireSecondFactor(tx, workspace.id, isRequired)))
          throw new CommandFailed(`the owner of workspace ${workspace.id} has no second factor yet`)
        const metadata = { is_required: isRequired }
        await auditCommand(tx, workspace.id, 'workspace.require_second_factor', workspace.id, metadata)
      }
      const changed = await (hasChanges ? changeWorkspace(tx, workspace.id, changes) : readWorkspace(tx, workspace.id))
      if (changed === null) throw new CommandFailed(`there is no workspace ${workspace.id}`)
      const { retention_days, timezone, currency, replay_enabled, replay_share } = changed
      const metadata = { retention_days, timezone, currency, replay_enabled, replay_share }
      if (hasChanges) await auditCommand(tx, workspace.id, 'workspace.update', workspace.id, metadata)
      const { plan_key, second_factor_required } = changed
      return { workspace_id: workspace.id, ...metadata, plan_key, second_factor_required }
    })
  },
  show: ({ workspace_id: id, timezone, currency, replay_enabled, replay_share, ...more }) => {
    const replay = replay_enabled ? `of ${replay_share} % of sessions` : 'off'
    const factor = more.second_factor_required ? ', second factor required' : ''
    return `workspace ${id}: ${timezone}, ${currency}, analytics kept ${keptFor(more)}, replay ${replay}${factor}`
  },
})

type Kept = Parameters<typeof readableDays>[0]

/** The setting is longer than what the plan keeps, and changes nothing. */
function isBeyondPlan(kept: Kept): boolean {
  return kept.retention_days !== null && kept.retention_days > readableDays(kept)
}

function keptFor(kept: Kept): string {
  const { retention_days: days } = kept
  if (days === null) return 'as long as the plan says'
  if (isBeyondPlan(kept)) return `as long as the plan says, which is less than ${days} days`
  return `for ${days} days${days * dayMs < creditWindowMs ? ' (credit looks back no further)' : ''}`
}

function readRetention(options: OptionValues): number | null | undefined {
  const text = options.text('retention-days')
  if (text === undefined) return undefined
  if (text === 'plan') return null
  const days = Number(text)
  if (/^\d+$/.test(text) && days >= 1 && days <= retentionDaysMax) return days
  throw new UsageError(
    `--retention-days must be a whole number from 1 to ${retentionDaysMax}, or plan, got \`${text}\``,
  )
}

function readCurrency(options: OptionValues): string | undefined {
  const currency = options.text('currency')?.toUpperCase()
  if (currency === undefined || isCurrency(currency)) return currency
  throw new UsageError(`--currency must be an ISO 4217 code such as EUR, got \`${options.text('currency')}\``)
}

export const setPlanOfWorkspace = defineCommand({
  name: 'plan set',
  summary:
    "Set the plan of a workspace's owner, for all of the owner's workspaces. A lower one hides older data at once and deletes it after 30 days.",
  options: {
    workspace: workspaceOption,
    plan: { value: 'PLAN', meaning: `${planChoices.join(', ')}.`, isRequired: true },
  },
  async run({ options, installation }) {
    const id = options.id('workspace')
    const plan = planOf(options.oneOf('plan', planChoices)!)
    const workspace = await installation.workspace(id)
    const workspaceIds = await installation.postgres().transaction(async (tx) => {
      const changed = await setPlan(tx, workspace.id, plan)
      if (changed.length === 0) throw new CommandFailed(`there is no workspace ${workspace.id}`)
      for (const workspaceId of changed) await auditCommand(tx, workspaceId, 'plan.set', null, { plan_key: plan })
      return changed
    })
    return { workspace_id: workspace.id, plan_key: plan, workspace_ids: workspaceIds }
  },
  show: ({ workspace_ids: ids, plan_key }) =>
    `${ids.length > 1 ? `workspaces ${ids.join(', ')}, all of one owner` : `workspace ${ids[0]}`}: plan ${plan_key ?? 'none'}`,
})

const pauseMs = 500

export const deleteWorkspace = defineCommand({
  name: 'workspace delete',
  summary:
    'Delete a workspace with all its data. Its keys and links end at once. It can not be undone. Asked for again, it goes on where it was.',
  options: {
    workspace: { value: 'ID', meaning: 'The workspace.', isRequired: true },
    yes: { value: 'NAME', meaning: "The workspace's name, as a confirmation; without it the name is asked for." },
  },
  async run({ options, installation, progress, signal }) {
    const id = options.id('workspace')!
    const pg = installation.postgres()
    if ((await readDeletion(pg, id)) === null) {
      const { name, slug } = await installation.workspace(id)
      const confirmed = options.text('yes', workspaceNameLengthMax) ?? (await askForName(id, name))
      if (confirmed !== name) throw new CommandFailed(`workspace ${id} has another name: nothing was deleted`)
      await pg.transaction(async (tx) => {
        // Somebody else may have asked meanwhile.
        if (await requestDeletion(tx, id)) await auditCommand(tx, id, 'workspace.delete', id, { name, slug })
      })
    }
    for (;;) {
      const { requestedAt, doneAt } = (await readDeletion(pg, id))!
      if (doneAt !== null) return { workspace_id: id, requested_at: requestedAt, deleted_at: doneAt }
      signal.throwIfAborted()
      progress.running('keys and links have ended, and data is being deleted; the pipeline goes on if this stops')
      const ch = await installation.answeringClickhouse()
      await deleteWorkspaces({ pg, ch, log: makeLog('svc', 'silent'), signal })
      await sleep(pauseMs, signal)
    }
  },
  show: ({ workspace_id, deleted_at }) => `workspace ${workspace_id} was deleted at ${deleted_at.toISOString()}`,
})

async function askForName(id: number, name: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError("--yes NAME is required, with the workspace's name, where nobody can be asked")
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  // Ctrl-C and Ctrl-D close it, and an answer would be waited for forever.
  const closing = new AbortController()
  asking.once('close', () => closing.abort())
  try {
    const question = `Workspace ${id}, ${name}, goes with all its data. Type its name to delete it: `
    return await asking.question(question, { signal: closing.signal })
  } finally {
    asking.close()
  }
}
