import { requireSecondFactor } from '../../postgres/tables/required-factors.ts'
import { changeWorkspace, readWorkspace } from '../../postgres/tables/workspaces.ts'
import { creditWindowMs } from '../../schemas/limits/figure-limits.ts'
import { retentionDaysMax } from '../../schemas/limits/retention-limits.ts'
import { isCurrency } from '../../schemas/revenue.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { timeZoneNamed } from '../../schemas/time/time-zone-name.ts'
import { auditCommand } from '../audit-command.ts'
import { CommandFailed, defineCommand, type OptionValues, UsageError } from '../command.ts'

export const setWorkspace = defineCommand({
  name: 'workspace set',
  summary: "Change a workspace's settings; what isn't named stays.",
  options: {
    workspace: { value: 'ID', meaning: 'The workspace; without it the only or first one.' },
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
      timezone: readTimeZone(options),
      currency: readCurrency(options),
      replayEnabled: readReplay(options),
      replayShare: readReplayShare(options),
    }
    const isRequired = readSecondFactor(options)
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
      return { workspace_id: workspace.id, ...metadata, second_factor_required: changed.second_factor_required }
    })
  },
  show: ({ workspace_id: id, retention_days: days, timezone, currency, replay_enabled, replay_share, ...more }) => {
    const replay = replay_enabled ? `of ${replay_share} % of sessions` : 'off'
    const factor = more.second_factor_required ? ', second factor required' : ''
    return `workspace ${id}: ${timezone}, ${currency}, analytics kept ${keptFor(days)}, replay ${replay}${factor}`
  },
})

function keptFor(days: number | null): string {
  if (days === null) return 'as long as the plan says'
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

function readReplay(options: OptionValues): boolean | undefined {
  const text = options.text('replay')
  if (text === undefined) return undefined
  if (text === 'on' || text === 'off') return text === 'on'
  throw new UsageError(`--replay must be on or off, got \`${text}\``)
}

function readSecondFactor(options: OptionValues): boolean | undefined {
  const text = options.text('second-factor')
  if (text === undefined) return undefined
  if (text === 'required' || text === 'optional') return text === 'required'
  throw new UsageError(`--second-factor must be required or optional, got \`${text}\``)
}

function readReplayShare(options: OptionValues): number | undefined {
  const text = options.text('replay-share')
  if (text === undefined) return undefined
  const share = Number(text)
  if (/^\d+$/.test(text) && share >= 1 && share <= 100) return share
  throw new UsageError(`--replay-share must be a whole number from 1 to 100, got \`${text}\``)
}

function readTimeZone(options: OptionValues): string | undefined {
  const text = options.text('timezone')
  const timezone = text && timeZoneNamed(text)
  if (text === undefined || timezone) return timezone
  throw new UsageError(`--timezone must be an IANA name such as Europe/Berlin, got \`${text}\``)
}

function readCurrency(options: OptionValues): string | undefined {
  const currency = options.text('currency')?.toUpperCase()
  if (currency === undefined || isCurrency(currency)) return currency
  throw new UsageError(`--currency must be an ISO 4217 code such as EUR, got \`${options.text('currency')}\``)
}
