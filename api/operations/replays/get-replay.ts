/** GET /v1/replays/{replay_id}: a replay with its recorded events, page by page. No tool: models can't read megabytes of a page's changes. */
import { z } from 'zod'
import { type ChunkRow, readChunks, readPackedEvents, readReplayOf } from '../../../clickhouse/queries/replays.ts'
import { problem } from '../../../schemas/errors/problems.ts'
import { idInPath, laxInt, laxIntOr } from '../../../schemas/lax.ts'
import { replayChunksDefault, replayChunksMax, replayPageBytesMax } from '../../../schemas/limits/replay-limits.ts'
import { ReplayPage } from '../../../schemas/resources/replay.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { defineOperation } from '../define.ts'
import { serializeReplays } from './serialize.ts'
import { unpackEvents } from './unpack-events.ts'

export const getReplay = defineOperation({
  name: 'replay.get',
  http: { method: 'GET', path: '/v1/replays/{replay_id}' },
  summary: 'Read a replay with its recorded events.',
  description:
    'A page holds up to 8 MiB of events as JSON; `next_after_id` goes on behind it. A recording is whatever the visitor’s browser sent: show it in a sandbox only.',
  tag: 'Replays',
  effect: 'read',
  scope: 'replays:read',
  input: {
    path: z.object({ replay_id: idInPath('replay') }),
    query: z.object({
      after_id: laxInt({
        ge: 1,
        le: Number.MAX_SAFE_INTEGER,
        description: 'Chunks behind this one: `next_after_id` of the page before.',
      }),
      limit: laxIntOr(replayChunksDefault, { ge: 1, le: replayChunksMax, description: 'Chunks, at most.' }),
    }),
  },
  output: ReplayPage,
  problems: ['replay_not_found'],
  async handle({ path, query, workspace, stores: { pg, ch }, clock }) {
    const session = path.replay_id
    const row = await readReplayOf(ch, workspace.id, session)
    if (row === undefined || row.startedAt < readableFrom(workspace, clock.now())) throw problem('replay_not_found')
    const [replay] = await serializeReplays(pg, workspace.id, [row])
    const asked = { workspaceId: workspace.id, session, afterId: query.after_id ?? 0 }
    // One more than is shown says whether there are others.
    const found = await readChunks(ch, { ...asked, limit: query.limit + 1 })
    const shown = fitting(found.slice(0, query.limit))
    const packed = await readPackedEvents(
      ch,
      workspace.id,
      [session],
      shown.map(({ id }) => id),
    )
    const chunks: ReplayPage['chunks'] = []
    for (const { id, pageId, sequence, startedAt, url } of shown) {
      const events = packed.get(id)
      // It was sent again in the meantime, and comes with a later page.
      if (events === undefined) continue
      const started_at = new Date(startedAt).toISOString()
      chunks.push({ id, page_id: pageId, sequence, started_at, url, events: await unpackEvents(events) })
    }
    // A chunk that is missing has a new id behind all of these.
    const goesOn = shown.length < found.length || chunks.length < shown.length
    return { replay: replay!, chunks, next_after_id: goesOn ? shown.at(-1)!.id : null }
  },
})

/** The first chunks up to the bytes of a page, and at least one. */
function fitting(chunks: readonly ChunkRow[]): readonly ChunkRow[] {
  let bytes = 0
  for (const [at, { jsonBytes }] of chunks.entries()) {
    bytes += jsonBytes
    if (bytes > replayPageBytesMax && at > 0) return chunks.slice(0, at)
  }
  return chunks
}
