/** GET /v1/analytics/click-map: where visitors click on a page and how far they scroll. No tool: get-replay.ts has none. */
import { z } from 'zod'
import { readablePath } from '../../../schemas/event/readable-path.ts'
import {
  clickMapPageViewsMax,
  clickMapQueue,
  clickMapShareOfAnswer,
  clickMapWaitShareOfAnswer,
  desktopWidthMin,
  tabletWidthMin,
} from '../../../schemas/limits/click-map-limits.ts'
import { urlLengthMax } from '../../../schemas/limits/event-limits.ts'
import { ClickMap, viewports } from '../../../schemas/resources/click-map.ts'
import { readableFrom } from '../../../schemas/time/readable-from.ts'
import { rangeOf, rangeParameters, shownRange } from '../analytics/range-query.ts'
import { defineOperation } from '../define.ts'
import { makeFairQueue } from '../fair-queue.ts'
import { addUp } from './add-up.ts'
import { type ReadPageView, readPageViews } from './read-page-views.ts'

const enqueue = makeFairQueue(clickMapQueue)

export const readClickMap = defineOperation({
  name: 'click_map.read',
  http: { method: 'GET', path: '/v1/analytics/click-map' },
  summary: 'Read where visitors click on a page and how far they scroll, from recordings.',
  description: `Counts the newest ${clickMapPageViewsMax} recorded page views with the viewport, in replays that began in the range. Selectors and texts are whatever browsers sent.`,
  tag: 'Replays',
  effect: 'read',
  scope: 'replays:read',
  input: {
    query: z.object({
      ...rangeParameters,
      path: z.string().min(1).max(urlLengthMax).meta({ description: 'The page.' }),
      device: z
        .enum(viewports)
        .default('desktop')
        .meta({
          description: `By the viewport’s width: \`desktop\` from ${desktopWidthMin.toLocaleString('en')} pixels on, \`tablet\` from ${tabletWidthMin} on, else \`mobile\`.`,
        }),
    }),
  },
  output: ClickMap,
  problems: ['click_maps_full'],
  async handle({ query, workspace, stores, clock, config: { answerDeadlineMs } }) {
    return stores.share(JSON.stringify(['click_map', query, workspace]), async () => {
      const now = clock.now()
      const range = rangeOf(query, workspace.timezone, now)
      const readable = readableFrom(workspace, now)
      const start = Math.max(range.start, readable)
      const path = readablePath(query.path)
      const request = {
        workspaceId: workspace.id,
        start,
        end: Math.max(start, range.end),
        path,
        viewport: query.device,
        withinMs: answerDeadlineMs * clickMapShareOfAnswer,
      }
      const waitMs = answerDeadlineMs * clickMapWaitShareOfAnswer
      const { views, viewports, hasMore } = await enqueue(workspace.id, waitMs, () => readPageViews(stores.ch, request))
      return {
        range: shownRange(range),
        readable_from: new Date(readable).toISOString(),
        path,
        device: query.device,
        page_views: views.length,
        viewports,
        has_more: hasMore,
        cut_page_views: views.filter(({ isCut }) => isCut).length,
        ...addUp(views),
        page: mappedPage(views),
      }
    })
  },
})

/** The newest one that can be drawn as it was at first. */
function mappedPage(views: readonly ReadPageView[]): ClickMap['page'] {
  const newest = views.find(({ snapshot }) => snapshot !== undefined)
  if (newest?.snapshot === undefined) return null
  const { chunkId, width, height } = newest.snapshot
  return {
    replay_id: newest.session,
    chunk_id: chunkId,
    recorded_at: new Date(newest.startedAt).toISOString(),
    width,
    height,
  }
}
