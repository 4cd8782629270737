/** Replays: sessions as their visitors saw them. */
import { z } from 'zod'
import { dateTime } from './date-time.ts'
import { objectId } from './object-id.ts'

const count = z.int().min(0)

export const Replay = z
  .object({
    id: z.int().meta({ description: 'Of the session: its events have it as `session_id`.' }),
    object_id: objectId('replay'),
    session_id: z.string(),
    anonymous_id: z.string(),
    contact_id: z.int().nullable().meta({ description: 'Whose the browser was at the end; null for nobody known.' }),
    started_at: dateTime,
    duration_ms: count,
    pages: count.meta({ description: 'Paths, for each time that a page was loaded.' }),
    entry_path: z.string(),
    clicks: count,
    device: z.string(),
    browser: z.string(),
    country: z.string().meta({ description: 'ISO alpha-2; empty where it is unknown.' }),
    bytes: count.meta({ description: 'Of the recording, packed.' }),
    event_count: count.meta({
      description: 'Recorded events: changes, movements, clicks.',
    }),
  })
  .meta({ id: 'Replay' })

const ReplayChunk = z
  .object({
    id: z.int(),
    page_id: z.string().meta({ description: 'Tells the loads of pages apart; one begins with a full snapshot.' }),
    sequence: count.meta({ description: 'Within the load of a page, without a gap unless a chunk was lost.' }),
    started_at: dateTime.meta({ description: 'By our clock; `timestamp` of events is by the visitor’s.' }),
    url: z.string(),
    events: z.array(z.record(z.string(), z.unknown())).meta({ description: 'As rrweb records and plays them.' }),
  })
  .meta({ id: 'ReplayChunk' })

export const ReplayPage = z
  .object({
    replay: Replay,
    chunks: z.array(ReplayChunk).meta({
      description:
        'By `id`, which is almost the order of arrival: a chunk that comes while you read may have a lower one. Read a replay again once it has ended.',
    }),
    next_after_id: z.int().nullable().meta({ description: '`after_id` of the next page; null: this is the last.' }),
  })
  .meta({ id: 'ReplayPage' })

export type Replay = z.output<typeof Replay>
export type ReplayPage = z.output<typeof ReplayPage>
