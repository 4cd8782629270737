/** GET /v1/replays: recorded sessions, newest first. No tool, as get-replay.ts has none: recordings are for eyes. */
import { z } from 'zod'
import { type ReplayTime, readReplays } from '../../../clickhouse/queries/replays.ts'
import { readBindingsOfContacts } from '../../../postgres/tables/people/bindings.ts'
import { findContact } from '../../../postgres/tables/people/contacts.ts'
import { readablePath } from '../../../schemas/event/readable-path.ts'
import { idInQuery, laxInt, laxIntOr } from '../../../schemas/lax.ts'
import { identifierLengthMax, urlLengthMax } from '../../../schemas/limits/event-limits.ts'
import { replayDurationSecondsMax, replaysDefault, replaysMax } from '../../../schemas/limits/replay-limits.ts'
import { beforeId } from '../../../schemas/resources/page.ts'
import { Replay } from '../../../schemas/resources/replay.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { rangeOf, rangeParameters } from '../analytics/range-query.ts'
import { type Context, defineOperation } from '../define.ts'
import { serializeReplays, timesOfContact } from './serialize.ts'

const ReplaysQuery = z.object({
  ...rangeParameters,
  contact_id: idInQuery('contact', 'Only of browsers while they were this contact’s.'),
  anonymous_id: z.string().max(identifierLengthMax).optional().meta({ description: 'Only of this browser.' }),
  session_id: z.string().max(identifierLengthMax).optional().meta({ description: 'Only of this session.' }),
  path: z.string().max(urlLengthMax).optional().meta({ description: 'Only with a page of this path.' }),
  min_seconds: laxInt({ ge: 1, le: replayDurationSecondsMax, description: 'At least so long.' }),
  limit: laxIntOr(replaysDefault, { ge: 1, le: replaysMax, description: 'Rows, at most.' }),
  before_id: beforeId('replay'),
})

type ReplaysContext = Context<{ readonly query: typeof ReplaysQuery }>

export const listReplays = defineOperation({
  name: 'replay.list',
  http: { method: 'GET', path: '/v1/replays' },
  summary: 'List replays, newest first.',
  description: 'Sessions that began in the range. A session appears some seconds after its first page.',
  tag: 'Replays',
  effect: 'read',
  scope: 'replays:read',
  input: { query: ReplaysQuery },
  output: z.array(Replay),
  async handle(context) {
    const { query, workspace, stores, clock } = context
    const range = rangeOf(query, workspace.timezone, clock.now())
    const start = Math.max(range.start, readableFrom(workspace, clock.now()))
    const times = await timesOf(context)
    const rows = await readReplays(stores.ch, {
      workspaceId: workspace.id,
      start,
      end: Math.max(start, range.end),
      times,
      beforeId: query.before_id,
      sessionId: query.session_id,
      path: query.path && readablePath(query.path),
      durationMsMin: (query.min_seconds ?? 0) * 1000,
      limit: query.limit,
    })
    return serializeReplays(stores.pg, workspace.id, rows)
  },
})

/** Undefined: everybody's. */
async function timesOf({ query, workspace, stores }: ReplaysContext): Promise<ReplayTime[] | undefined> {
  const { contact_id, anonymous_id } = query
  if (contact_id === undefined && anonymous_id === undefined) return undefined
  const visitor = anonymous_id === undefined ? undefined : stores.hashes.visitorOf(workspace.id, anonymous_id)
  if (contact_id === undefined) return [{ visitor: visitor!, fromAt: 0, toAt: null }]
  const contact = await findContact(stores.pg, workspace.id, { id: contact_id })
  if (contact === undefined) return []
  const times = timesOfContact(await readBindingsOfContacts(stores.pg, [contact.id]), contact.id)
  return visitor === undefined ? times : times.filter((time) => time.visitor === visitor)
}
