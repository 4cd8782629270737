/**
 * The ingest service: where its objects meet. Order of the start: what the disk holds, then the stores, then the port;
 * of the stop: the port, the log, the shippers, the clients.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres } from '../postgres/client.ts'
import { recordRepairs } from '../postgres/tables/aggregate-repairs.ts'
import { insertInbox } from '../postgres/tables/inbox.ts'
import { readOrMakeSalt } from '../postgres/tables/salts.ts'
import { advanceMark, leaseSegments, raiseLeases } from '../postgres/tables/segment-leases.ts'
import { findTrackingKey, listTrackingKeys } from '../postgres/tables/tracking-keys.ts'
import { systemClock } from '../runtime/clock.ts'
import { readConfig, requireStores, SettingError } from '../runtime/config.ts'
import { keepStringsFast } from '../runtime/fast-strings.ts'
import { FolderInUse, lockFolder } from '../runtime/folder-lock.ts'
import { CantListen } from '../runtime/http/listen.ts'
import { makeLog } from '../runtime/log.ts'
import { makeMetrics } from '../runtime/metrics.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import { logFileBytes, segmentLeaseSize } from '../schemas/limits.ts'
import type { BotVisitRow, EventRow } from '../schemas/row.ts'
import { Appender } from './append.ts'
import { makeBotReader } from './bots.ts'
import { watchCapacity } from './capacity.ts'
import { makeEnricher } from './enrich.ts'
import { openSegmentNumbers } from './ids.ts'
import { makeKeyRate } from './key-rate.ts'
import { makeKeyTable } from './keys.ts'
import { DedupWindow } from './log/dedup-window.ts'
import { diskIo } from './log/files.ts'
import { segmentOfId } from './log/format.ts'
import { Receiver } from './receive.ts'
import { makeSalts } from './salts.ts'
import { makeIngestServer } from './server.ts'
import { watchMetrics } from './service-metrics.ts'
import { connectClaims } from './ship/claim.ts'
import { openStream } from './ship/stream.ts'
import { makeTrustedProxies } from './trusted-proxy.ts'

/** What the shippers may take of an orderly stop: the rest is shipped at the next start. */
const drainMs = 8_000
/** What the start may take to ask ClickHouse about ids: events are taken without its answer, too. */
const startQueryMs = 2_000

async function main(): Promise<void> {
  keepStringsFast()
  const config = readConfig()
  const { databaseUrl, redisUrl, clickhouseUrl, secretKey } = requireStores(config)
  const log = makeLog('ingest', config.logLevel)
  const shutdown = makeShutdown(log)
  const clock = systemClock
  const metrics = makeMetrics('ingest')
  const folder = resolve(config.dataDir, 'ingest')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Two processes that write and recycle the same log files would lose events.
  const lock = lockFolder(folder)

  const pg = connectPostgres(databaseUrl, { max: 4 })
  const clickhouse = connectClickHouse(clickhouseUrl)
  const claims = connectClaims({
    url: redisUrl,
    windowHours: config.dedupWindowHours,
    entriesMax: config.dedupClaimsMax,
  })

  await raiseLeasesAboveStored(clickhouse, (above) => raiseLeases(pg, above, segmentLeaseSize), log)
  const numbers = await openSegmentNumbers({
    file: join(folder, 'segment-leases.json'),
    lease: () => leaseSegments(pg, segmentLeaseSize),
    isUsed: (first, end) => areNumbersUsed(clickhouse, first, end),
    log,
  })
  const window = new DedupWindow(config.dedupLocalEntries, config.dedupWindowHours * 3_600_000, clock.now())
  const watched = watchMetrics(metrics)
  const shared = {
    folder,
    fileBytes: logFileBytes,
    io: diskIo,
    bootId: await readBootId(),
    numbers,
    window,
    clickhouse,
    claims,
    copySides: async (manifestId: number, sides: Parameters<typeof insertInbox>[2]) => {
      await pg.transaction((tx) => insertInbox(tx, manifestId, sides))
    },
    claimWaitMs: config.claimWaitMs,
    clock,
    log,
  }
  const events = await openStream<EventRow>({
    ...shared,
    stream: 'events',
    markStore: {
      advance: (firstSegment, throughId) => advanceMark(pg, firstSegment, throughId),
      recordRepairs: (keys) =>
        recordRepairs(
          pg,
          keys.map(([workspaceId, hour]) => ({ workspaceId, hour })),
        ),
    },
    ...watched.streamHooks('events'),
  })
  const botVisits = await openStream<BotVisitRow>({
    ...shared,
    stream: 'bot_visits',
    ...watched.streamHooks('bot_visits'),
  })

  const keys = makeKeyTable({
    file: join(folder, 'tracking-keys.json'),
    listKeys: () => listTrackingKeys(pg),
    findKey: (key) => findTrackingKey(pg, key),
    listen: (onNotify, onReconnect) => pg.listen('keys_changed', onNotify, onReconnect),
    clock,
    log,
  })
  const salts = makeSalts({
    file: join(folder, 'visitor-salts.json'),
    readOrMakeSalt: (day, newSalt) => readOrMakeSalt(pg, day, newSalt),
    clock,
    log,
  })
  await Promise.all([keys.start(), salts.start()])

  const backlogBytes = () => events.shipper.backlog().bytes + botVisits.shipper.backlog().bytes
  const capacity = watchCapacity({
    folder,
    logBytesMax: config.logBytesMax,
    diskFreeBytesMin: config.diskFreeBytesMin,
    backlogBytes,
    log,
  })
  watched.watch({ events: events.shipper, bot_visits: botVisits.shipper }, claims, window, clock)
  const receiver = new Receiver({
    keys,
    enricher: makeEnricher({ secretKey, salts }),
    bots: makeBotReader({ salts }),
    appender: new Appender({ events: events.writer, botVisits: botVisits.writer, window, secretKey, clock }),
    capacity,
    keyRate: makeKeyRate(config.trackRatePerKey),
    clock,
    log,
    countAccepted: watched.countAccepted,
    countRefused: watched.countRefused,
  })
  const server = makeIngestServer({
    receiver,
    proxies: makeTrustedProxies(config.trustedProxies),
    countryHeader: config.countryHeader,
    metrics,
    health: () => {
      const refusal = capacity.refusal()
      const backlog = { events: events.shipper.backlog(), bot_visits: botVisits.shipper.backlog() }
      return {
        isWell: refusal === null,
        body: {
          status: refusal === null ? 'ok' : 'refusing',
          reason: refusal,
          backlog: Object.fromEntries(
            Object.entries(backlog).map(([stream, { bytes, segments, ageMs }]) => [
              stream,
              { bytes, segments, oldest_seconds: ageMs / 1000 },
            ]),
          ),
        },
      }
    },
    observeAnswer: watched.observeAnswer,
    log,
  })

  shutdown.step('server', () => server.close(5_000))
  shutdown.step('log', () => Promise.all([events.writer.close(), botVisits.writer.close()]).then(() => {}))
  shutdown.step('shippers', () =>
    Promise.all([events.shipper.close(drainMs), botVisits.shipper.close(drainMs)]).then(() => {}),
  )
  shutdown.step('tables', async () => {
    capacity.close()
    await Promise.all([keys.close(), salts.close(), numbers.close()])
  })
  shutdown.step('lock', () => lock.release())
  shutdown.step('clients', () => Promise.all([claims.close(), clickhouse.close(), pg.close()]).then(() => {}))

  const port = await server.listen(config.listenHost, config.port)
  log.info({ port }, 'ingest takes events')
  process.send?.({ type: 'ready', port })
}

type ClickHouseClient = ReturnType<typeof connectClickHouse>

/** Null while ClickHouse can't say: the lease is believed then. */
async function areNumbersUsed(clickhouse: ClickHouseClient, first: number, end: number): Promise<boolean | null> {
  const ask = (table: string) =>
    clickhouse.query(
      `SELECT 1 FROM ${table} WHERE id >= {first:UInt64} AND id < {end:UInt64} LIMIT 1`,
      { first: first * 2 ** 17, end: end * 2 ** 17 },
      { deadlineMs: startQueryMs },
    )
  return Promise.all([ask('events'), ask('bot_visits')]).then(
    (answers) => answers.some((rows) => rows.length > 0),
    () => null,
  )
}

/**
 * A Postgres restored from a backup would lease numbers again that ClickHouse has rows of. Ids grow with the time of
 * receipt, and an event is at most three days older than that: the newest days hold the largest.
 */
async function raiseLeasesAboveStored(
  clickhouse: ClickHouseClient,
  raise: (above: number) => Promise<void>,
  log: ReturnType<typeof makeLog>,
): Promise<void> {
  const newest = (table: string) =>
    `(SELECT max(id) FROM ${table} WHERE occurred_at >= (SELECT max(toDate(occurred_at, 'UTC')) FROM ${table}) - 4)`
  try {
    const [row] = await clickhouse.query<{ id: number }>(
      `SELECT greatest(${newest('events')}, ${newest('bot_visits')}) AS id`,
      {},
      { deadlineMs: startQueryMs },
    )
    if (row && row.id > 0) await raise(segmentOfId(row.id))
  } catch (error) {
    log.warn({ err: error }, 'the lease sequence was not compared with what is stored')
  }
}

/** Tells one boot of the machine from another; empty where the system has no such file. */
async function readBootId(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
}

main().catch((error) => {
  const isExpected = [SettingError, CantListen, FolderInUse].some((kind) => error instanceof kind)
  process.stderr.write(`${isExpected ? error.message : error.stack}\n`)
  process.exit(1)
})
