/** A node whose one thread takes events, writes and ships them. */
import type { BotVisitRow, EventRow, LinkClickRow, ReplayChunkRow, StreamName } from '../schemas/event/row.ts'
import { hourMs } from '../schemas/time/time-zone.ts'
import { watchCapacity } from './http/capacity.ts'
import { describeHealth } from './http/health.ts'
import { makePasswordTries } from './http/password-tries.ts'
import { DedupWindow } from './log/dedup-window.ts'
import { openSegmentNumbers } from './log/segment-numbers.ts'
import { openStream } from './ship/stream.ts'
import {
  answersEndMs,
  drainMs,
  type IngestNode,
  makeThreadServer,
  type Receiving,
  type Tables,
} from './thread-dependencies.ts'

export async function receiveInOneThread(node: IngestNode, openTables: () => Promise<Tables>): Promise<Receiving> {
  const { config, folder, claims, metrics, watched, clock, log } = node
  const numbers = await openSegmentNumbers(node.leasesOf(0).reserve, log)
  const window = new DedupWindow(config.dedupLocalEntries, config.dedupWindowHours * hourMs, clock.now())
  const writing = (stream: StreamName) => ({ numbers, window, ...watched.streamHooks(stream) })
  const events = await openStream<EventRow>({ ...node.shippingOf('events'), ...writing('events') })
  const botVisits = await openStream<BotVisitRow>({ ...node.shippingOf('bot_visits'), ...writing('bot_visits') })
  const linkClicks = await openStream<LinkClickRow>({ ...node.shippingOf('link_clicks'), ...writing('link_clicks') })
  const replayChunks = await openStream<ReplayChunkRow>({
    ...node.shippingOf('replay_chunks'),
    ...writing('replay_chunks'),
  })
  const shippers = {
    events: events.shipper,
    bot_visits: botVisits.shipper,
    link_clicks: linkClicks.shipper,
    replay_chunks: replayChunks.shipper,
  }
  watched.watchShipping(shippers, claims)
  const tables = await openTables()
  const capacity = watchCapacity({
    folder,
    logBytesMax: config.logBytesMax,
    diskFreeBytesMin: config.diskFreeBytesMin,
    backlogBytes: () => Object.values(shippers).reduce((bytes, shipper) => bytes + shipper.backlog().bytes, 0),
    onChange: () => {},
    log,
  })
  const writers = { events: events.writer, botVisits: botVisits.writer, linkClicks: linkClicks.writer }
  const logs = { ...writers, replayChunks: replayChunks.writer, window }
  const outageMs = () => Math.max(events.writer.outage.ms(), numbers.outageMs())
  const health = () => describeHealth(capacity.refusal(), outageMs(), shippers)
  const shared = { capacity, passwordTries: makePasswordTries(node.clock) }
  const server = makeThreadServer(node, tables, logs, shared, { health, metrics })
  return {
    listen: (host, port) => server.listen(host, port, false),
    closeServer: () => server.close(answersEndMs),
    closeLog: async () => {
      await Promise.all([events, botVisits, linkClicks, replayChunks].map(({ writer }) => writer.close()))
    },
    closeShippers: async () => {
      await Promise.all(Object.values(shippers).map((shipper) => shipper.close(drainMs)))
    },
    closeTables: async () => {
      capacity.close()
      await Promise.all([tables.close(), numbers.close()])
    },
  }
}
