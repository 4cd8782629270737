import { seedDaysMax, seedEventsMax, seedEventsPerDayMax, seedWorkspacesMax } from '../../schemas/limits/seed-limits.ts'
import { defineCommand, type OptionValues, UsageError } from '../command.ts'
import { seedEvents } from '../seed/seed-events.ts'

const largestShareDefault = 0.5

export const seed = defineCommand({
  name: 'seed',
  summary: 'Fill new workspaces with made-up events, for benches and demonstrations.',
  options: {
    events: { value: 'N', meaning: 'How many events, of all workspaces together.', isRequired: true },
    workspaces: { value: 'M', meaning: 'How many workspaces, made for this; 1 when left out.' },
    days: { value: 'D', meaning: 'Over how many days; 30 when left out.' },
    seed: { value: 'S', meaning: 'The same seed makes the same events; 1 when left out.' },
    'largest-share': { value: 'SHARE', meaning: 'What the first workspace has of all events; 0.5 when left out.' },
    until: { value: 'TIME', meaning: 'When the newest event happened, RFC 3339 with an offset; now when left out.' },
    'client-event-ids': { value: 'all|newest', meaning: 'Which events have one; those of the last two days (newest).' },
  },
  run({ options, installation, progress, signal }) {
    const events = options.count('events', seedEventsMax)!
    const workspaces = options.count('workspaces', seedWorkspacesMax) ?? 1
    if (workspaces === 1 && options.text('largest-share') !== undefined)
      throw new UsageError('--largest-share goes with --workspaces of 2 or more only')
    const days = options.count('days', seedDaysMax) ?? 30
    if (events / days > seedEventsPerDayMax) {
      throw new UsageError(`--events must be at most ${seedEventsPerDayMax} for each of --days`)
    }
    return seedEvents({
      events,
      workspaces,
      days,
      seed: options.count('seed', 2 ** 31 - 1) ?? 1,
      largestShare: readShare(options.text('largest-share')),
      until: readUntil(options),
      hasAllClientEventIds: options.oneOf('client-event-ids', ['all', 'newest']) === 'all',
      installation,
      progress,
      signal,
    })
  },
  show: ({ events, seconds, rows_per_second, workspaces }) =>
    [
      `${events} events in ${seconds} s, ${rows_per_second} a second`,
      ...workspaces.map(
        (made) => `workspace ${made.workspace_id} (${made.slug}): ${made.events} events, secret key ${made.api_key}`,
      ),
    ].join('\n'),
})

function readShare(text: string | undefined): number {
  if (text === undefined) return largestShareDefault
  const share = Number(text)
  if (share > 0 && share <= 1) return share
  throw new UsageError(`--largest-share must be a number above 0, 1 at most, got \`${text}\``)
}

function readUntil(options: OptionValues): number {
  const until = options.time('until')
  if (until === undefined) return Date.now()
  if (until <= Date.now()) return until
  throw new UsageError(`--until must not lie in the future, got \`${options.text('until')}\``)
}
