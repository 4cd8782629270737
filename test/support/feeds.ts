/** Feeds as sites serve them, and looks at feeds in the test's own process. */
import { lookAtFeeds } from '../../pipeline/feeds/look-at-feeds.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { fixedClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeMetrics } from '../../runtime/metrics.ts'
import { makeGuardedAgent } from '../../runtime/outbound/guarded-agent.ts'
import type { Receiver } from './receiver.ts'
import type { TestStores } from './stores.ts'

export interface SentItem {
  readonly id: string
  readonly title?: string
  readonly minute?: number
}

/** RSS with the newest item first, as sites have it. */
export function rssOf(items: readonly SentItem[]): string {
  const shown = items.map(({ id, title = `Title ${id}`, minute }) => {
    const time = minute === undefined ? '' : `<pubDate>${new Date(minute * 60_000).toUTCString()}</pubDate>`
    return `<item><guid isPermaLink="false">${id}</guid><title>${title}</title><link>https://blog.example.com/${id}</link>${time}</item>`
  })
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>A blog</title>${shown.join('')}</channel></rss>`
}

export interface ServedFeed {
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers each path with what it is given, with an `ETag` of its length; unknown paths with 404. */
export function serve(receiver: Receiver, feeds: Readonly<Record<string, ServedFeed | undefined>>): void {
  receiver.behaviour = (request, response) => {
    const feed = feeds[request.url!]
    if (feed === undefined) return response.writeHead(404).end()
    const etag = `"${Buffer.byteLength(feed.body)}"`
    if (request.headers['if-none-match'] === etag) return response.writeHead(304).end()
    response.writeHead(200, { 'Content-Type': 'application/rss+xml', ETag: etag, ...feed.headers }).end(feed.body)
  }
}

export const shortUrlHost = 'https://s.example.com'

/** A process that looks at feeds. Its clock stands still until it is moved. */
export function makeFeedReader(stores: Pick<TestStores, 'pg'>, pg = stores.pg, holdBefore?: Date) {
  const clock = fixedClock(Date.now() + 60_000)
  const stopping = new AbortController()
  const { signal } = stopping
  const context = {
    pg,
    clock,
    apiHost: '',
    shortUrlHost,
    isMailSetUp: true,
    holdBefore,
    log: makeLog('test', 'silent'),
    metrics: makePipelineMetrics(makeMetrics('test', false)),
    fetching: { agent: makeGuardedAgent({ allowPrivate: true, connectMs: 5_000 }), allowPrivate: true },
  }
  return {
    clock,
    /** Looks at all feeds that are due so long from now. */
    async look(inMs = 0): Promise<void> {
      clock.advance(inMs)
      while (await lookAtFeeds(context, signal)) {
        // Others may be due.
      }
    },
    stop: () => stopping.abort(),
  }
}
