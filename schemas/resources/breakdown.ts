/** Sessions of a range by one of their properties. docs/metrics.md says what the figures mean. */
import { z } from 'zod'
import { Range } from './range.ts'

/** Those that are read from a session's first event. */
export const entryEventNames = ['hostname', 'referrer', 'content', 'language', 'screen'] as const
export type EntryEventName = (typeof entryEventNames)[number]

export const breakdownNames = [
  'channel',
  'source',
  'medium',
  'campaign',
  'entry_path',
  'exit_path',
  'device',
  'browser',
  'os',
  'country',
  'region',
  'city',
  ...entryEventNames,
] as const
export type BreakdownName = (typeof breakdownNames)[number]

const SessionsRow = z
  .object({
    key: z.string().describe('As its filter takes it, if there is one; empty for none.'),
    label: z.string(),
    visitors: z.int(),
    sessions: z.int(),
    bounce_rate: z.number().describe('In per cent.'),
    average_session_seconds: z.number(),
  })
  .meta({ id: 'SessionsRow' })

export const Breakdown = z
  .object({ range: Range, by: z.enum(breakdownNames), rows: z.array(SessionsRow).describe('Most visitors first.') })
  .meta({ id: 'Breakdown' })
export type Breakdown = z.output<typeof Breakdown>
