/** The objects that a node's threads are made of. main.ts builds those that need a store; it alone imports the stores. */
import type { Clock } from '../runtime/clock.ts'
import type { Config } from '../runtime/config.ts'
import { makeTrustedProxies } from '../runtime/http/trusted-proxy.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { shortLinkPathOf } from '../runtime/public-hosts.ts'
import type { LinkClickRow, ReplayChunkRow, StreamName } from '../schemas/event/row.ts'
import { Appender, type AppendOptions } from './append.ts'
import { makeClickReader } from './enrich/clicks.ts'
import type { Countries } from './enrich/countries.ts'
import { makeEnricher } from './enrich/enrich.ts'
import type { Ownership } from './enrich/match-link.ts'
import type { Salts } from './enrich/salts.ts'
import { makeBotReader } from './http/bots.ts'
import { makeBrowserScript } from './http/browser-script.ts'
import type { Capacity } from './http/capacity.ts'
import { makeKeyRate } from './http/key-rate.ts'
import { makeLinkPasswords } from './http/link-passwords.ts'
import type { PasswordTries } from './http/password-tries.ts'
import { type ReceiveOptions, Receiver } from './http/receive.ts'
import { makeRedirect } from './http/redirect.ts'
import { type IngestServer, type IngestServerOptions, makeIngestServer } from './http/server.ts'
import type { LogWriter } from './log/writer.ts'
import { makeReplayReceiver } from './replay/receive-chunk.ts'
import type { SegmentLeases } from './segment-leases.ts'
import type { watchMetrics } from './service-metrics.ts'
import type { Claims } from './ship/claim.ts'
import type { ShippingOptions } from './ship/stream.ts'
import type { LinkTable } from './tables/links.ts'
import type { PostTable } from './tables/posts.ts'
import type { DomainTable } from './tables/short-domains.ts'
import type { KeyTable } from './tables/tracking-key-table.ts'
import type { BotChecks } from './verify/open-checks.ts'

/** The objects that each thread has for itself. */
export interface Thread {
  readonly config: Config & { readonly secretKey: string }
  readonly folder: string
  readonly metrics: Metrics
  readonly watched: ReturnType<typeof watchMetrics>
  readonly clock: Clock
  readonly log: Log
}

/** The tables that requests are looked up in. */
export interface Tables {
  readonly keys: KeyTable
  readonly links: LinkTable
  readonly domains: DomainTable
  readonly posts: PostTable
  readonly salts: Salts
  /** Null: no address is looked up. */
  readonly countries: Countries | null
  /** By which crawlers are verified. */
  readonly botChecks: BotChecks
  close(): Promise<void>
}

/** The logs that requests are written to. */
type Logs = Pick<AppendOptions, 'events' | 'botVisits' | 'window'> & {
  readonly linkClicks: LogWriter<LinkClickRow>
  readonly replayChunks: LogWriter<ReplayChunkRow>
}

/** The objects that are one for all threads of a node. */
interface Shared {
  readonly capacity: Pick<Capacity, 'refusal'>
  readonly passwordTries: PasswordTries
}

/** The objects of the node's shipping thread. */
export interface IngestNode extends Thread {
  /** Each writer has leases of its own, so that the mark of one that rests holds up no other. */
  leasesOf(folder: number): SegmentLeases
  readonly claims: Claims
  shippingOf(stream: StreamName): ShippingOptions
}

/** A node that takes events, in one thread or several. A stop calls the four `close` functions in this order. */
export interface Receiving {
  listen(host: string, port: number): Promise<number>
  /** Takes no more connections and answers the requests under way. */
  closeServer(): Promise<void>
  /** Hands over synced rows to the shippers. */
  closeLog(): Promise<void>
  closeShippers(): Promise<void>
  closeTables(): Promise<void>
}

/** Time that an orderly stop gives answers that are under way. */
export const answersEndMs = 5_000
/** Time that an orderly stop gives the shippers: the rest is shipped at the next start. */
export const drainMs = 8_000

/** The HTTP server of a thread, with all that its requests need. */
export function makeThreadServer(
  { config, watched, clock, log }: Thread,
  { keys, links, domains, posts, salts, countries, botChecks }: Tables,
  { linkClicks, replayChunks, ...logs }: Logs,
  { capacity, passwordTries }: Shared,
  status: Pick<IngestServerOptions, 'health' | 'metrics'>,
): IngestServer {
  const { secretKey } = config
  const { observeAnswer, countRefused } = watched
  watched.watchWindow(logs.window, clock)
  const options: ReceiveOptions = {
    keys,
    enricher: makeEnricher({
      secretKey,
      salts,
      countries,
      placeDetail: config.placeDetail,
      ownership: ownershipOf(links, posts),
      countDropped: watched.countDropped,
    }),
    bots: makeBotReader({ salts, verifier: botChecks.verifier }),
    replays: makeReplayReceiver({
      secretKey,
      countries,
      writer: replayChunks,
      clock,
      countChunk: watched.countChunk,
      bytesPerDayMax: config.replayBytesPerDay,
    }),
    appender: new Appender({ ...logs, secretKey, clock }),
    capacity,
    keyRate: makeKeyRate(config.trackRatePerKey),
    clock,
    log,
    countAccepted: watched.countAccepted,
    countRefused,
    countExcluded: watched.countExcluded,
  }
  const events = new Receiver(options)
  // Chunks have rates and counts of their own: a recording uses up nothing of its key's events.
  const chunks = new Receiver({ ...options, keyRate: makeKeyRate(0), countRefused: watched.countChunk })
  const receivers = { track: events, batch: events, bots: events, replay: chunks }
  const proxies = makeTrustedProxies(config.trustedProxies)
  const { countryHeader } = config
  const redirect = makeRedirect({
    links,
    capacity,
    proxies,
    countryHeader,
    observeAnswer,
    log,
    clicks: makeClickReader({ salts, countries, placeDetail: config.placeDetail, exclusionsOf: keys.exclusionsOf }),
    passwords: makeLinkPasswords(passwordTries),
    writer: linkClicks,
    countRequest: watched.countLinkRequest,
  })
  const shortLinks = { redirect, paths: shortLinkPaths(config.shortUrlHost), domainOf: domains.ofRequest }
  const apiHost = config.apiHost ?? `http://localhost:${config.port}`
  const browserScript = makeBrowserScript({ keys, apiHost })
  return makeIngestServer({
    receivers,
    shortLinks,
    browserScript,
    proxies,
    countryHeader,
    countRefused,
    ...status,
    observeAnswer,
    log,
  })
}

function ownershipOf(links: LinkTable, posts: PostTable): Ownership {
  return { linkOfId: (id) => links.ofId(id), workspaceOfPost: (id) => posts.workspaceOf(id) }
}

/** How short links begin behind the host: `/l`, and the path of their own root where that has another. */
function shortLinkPaths(shortUrlHost: string | undefined): string[] {
  const own = shortUrlHost === undefined ? [] : [shortLinkPathOf(shortUrlHost)]
  return [...new Set(['/l', ...own])]
}
