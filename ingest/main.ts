/**
 * The ingest service: where its objects meet. It starts in this order: the rows on disk, the stores, the port. It stops
 * in this order: the port, the log, the shippers, the clients. With several workers each runs this program in a thread.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isMainThread, workerData } from 'node:worker_threads'
import { connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres, type Postgres } from '../postgres/client.ts'
import { checkAtStart } from '../postgres/start-check.ts'
import { findRedirect, findRedirectOfId, listRedirects } from '../postgres/tables/links/link-redirects.ts'
import { ownHostsOf, requireOwnHosts } from '../postgres/tables/links/own-hosts.ts'
import { listServedDomains } from '../postgres/tables/links/short-domains.ts'
import { readOrMakeSalt } from '../postgres/tables/operation/salts.ts'
import { bindServiceKey } from '../postgres/tables/operation/secret-key-check.ts'
import { advanceMarks, leaseSegments, raiseLeases } from '../postgres/tables/operation/segment-leases.ts'
import { recordRepairs } from '../postgres/tables/people/event-repairs.ts'
import { insertInbox } from '../postgres/tables/people/inbox.ts'
import { findPostOwner, listPostOwners } from '../postgres/tables/posts/posts.ts'
import { findTrackingKey, listTrackingKeys } from '../postgres/tables/workspaces/tracking-keys.ts'
import { listDeletedWorkspaces } from '../postgres/tables/workspaces/workspace-deletions.ts'
import { systemClock } from '../runtime/clock.ts'
import { readConfig, requireStores, SettingError } from '../runtime/config.ts'
import { restoreFastStrings } from '../runtime/fast-strings.ts'
import { FolderInUse, lockFolder } from '../runtime/folder-lock.mjs'
import { letHeapGrow } from '../runtime/heap.ts'
import { CantListen } from '../runtime/http/listen.ts'
import { makeLog } from '../runtime/log.ts'
import { makeMetrics } from '../runtime/metrics.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import type { StreamName } from '../schemas/event/row.ts'
import { botListsFolder } from '../schemas/limits/bot-limits.ts'
import { logFileBytes, segmentLeaseSize } from '../schemas/limits/log-limits.ts'
import { openCountries } from './enrich/countries.ts'
import { makeSalts } from './enrich/salts.ts'
import { diskIo } from './log/files.ts'
import { workerFolders, writerFolder } from './log/folders.ts'
import { receiveInOneThread } from './one-thread.ts'
import { openSegmentLeases, type SegmentLeases } from './segment-leases.ts'
import { watchMetrics } from './service-metrics.ts'
import { connectClaims } from './ship/claim.ts'
import type { MarkStore } from './ship/marks.ts'
import { expireSetAside } from './ship/set-aside.ts'
import { areNumbersUsed, raiseLeasesAboveUsed } from './ship/used-numbers.ts'
import { makeLinkTable } from './tables/links.ts'
import { makePostTable } from './tables/posts.ts'
import { type DomainTable, makeDomainTable } from './tables/short-domains.ts'
import { makeKeyTable } from './tables/tracking-key-table.ts'
import type { Tables, Thread } from './thread-dependencies.ts'
import type { WorkerData } from './threads/protocol.ts'
import { runWorker } from './threads/worker.ts'
import { receiveInWorkers } from './threads/workers.ts'
import { openBotChecks } from './verify/open-checks.ts'
import { waitForRoom } from './wait-for-room.ts'

async function runNode(): Promise<void> {
  letHeapGrow()
  const thread = makeThread()
  const { config, folder, log, clock } = thread
  const { databaseUrl, redisUrl, clickhouseUrl } = requireStores(config)
  const shutdown = makeShutdown(log)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // Two processes that write and recycle the same log files would lose events.
  const lock = lockFolder(folder)
  await waitForRoom(folder, log)

  const pg = connectPostgres(databaseUrl, { max: 4 })
  // At once: while Postgres is away each waits for its deadline.
  await Promise.all([
    bindServiceKey(pg, config, shutdown, log),
    checkAtStart(() => requireOwnHosts(pg, config), shutdown, log),
  ])
  const clickhouse = connectClickHouse(clickhouseUrl)
  const claims = connectClaims({
    url: redisUrl,
    windowHours: config.dedupWindowHours,
    entriesMax: config.dedupClaimsMax,
  })
  const writers = Array.from({ length: config.ingestWorkers }, (_, at) => (config.ingestWorkers === 1 ? 0 : at + 1))
  const leases = await openLeases(folder, writers, (writer) =>
    openSegmentLeases({
      file: join(writerFolder(folder, writer), 'segment-leases.json'),
      lease: async () => {
        await raiseAboveUsed()
        return leaseSegments(pg, segmentLeaseSize)
      },
      isUsed: (first, end) => areNumbersUsed(clickhouse, first, end),
      log,
    }),
  )
  const held = () => [...leases.values()].flatMap((each) => each.held())
  const raiseAboveUsed = () =>
    raiseLeasesAboveUsed({ clickhouse, held }, (above) => raiseLeases(pg, above, segmentLeaseSize), log)
  // The front of `npm start` has no store: it is told which hosts are to come here.
  const domains = makeDomains(thread, pg, true, (hosts) => process.send?.({ type: 'short_domains', hosts }))
  // Leases also where this node needs none: before another, newer node takes one. At once: each may wait for Postgres.
  await Promise.all([raiseAboveUsed(), domains.start()])
  const shipping = {
    nodeFolder: folder,
    fileBytes: logFileBytes,
    io: diskIo,
    bootId: await readBootId(),
    leases: {
      held,
      letGo: async (first: number) => {
        await Promise.all([...leases.values()].map((each) => each.letGo(first)))
      },
    },
    clickhouse,
    claims,
    copySides: async (manifestId: number, sides: Parameters<typeof insertInbox>[2]) => {
      await pg.transaction((tx) => insertInbox(tx, manifestId, sides))
    },
    claimWaitMs: config.claimWaitMs,
    clock,
    log,
  }
  const node = {
    ...thread,
    claims,
    leasesOf: (writer: number) => leases.get(writer)!,
    shippingOf: (stream: StreamName) => ({
      ...shipping,
      stream,
      ...(stream === 'events' && { markStore: markStoreOf(pg) }),
      ...thread.watched.streamHooks(stream),
    }),
  }
  const receiving =
    config.ingestWorkers === 1
      ? await receiveInOneThread(node, () => openTables(thread, pg, true, domains))
      : await receiveInWorkers(node, new URL(import.meta.url))

  expireSetAside(folder, clock, log)
  shutdown.step('server', () => receiving.closeServer())
  shutdown.step('log', () => receiving.closeLog())
  shutdown.step('shippers', () => receiving.closeShippers())
  shutdown.step('tables', async () => {
    await receiving.closeTables()
    await domains.close()
    await Promise.all([...leases.values()].map((each) => each.close()))
  })
  shutdown.step('lock', () => lock.release())
  shutdown.step('clients', () => Promise.all([claims.close(), clickhouse.close(), pg.close()]).then(() => {}))

  const port = await receiving.listen(config.listenHost, config.port)
  log.info({ port, workers: config.ingestWorkers }, 'ingest takes events')
  process.send?.({ type: 'ready', port })
}

async function runWorkerThread(): Promise<void> {
  const data = workerData as WorkerData
  const thread = makeThread(data.worker)
  const pg = connectPostgres(requireStores(thread.config).databaseUrl, { max: 2 })
  // Copies of the tables lie in the node's folder, once.
  const domains = makeDomains(thread, pg, false)
  await domains.start()
  await runWorker(data, thread, () => openTables(thread, pg, data.worker === 1, domains))
}

/** @param worker undefined in the main thread */
function makeThread(worker?: number): Thread {
  restoreFastStrings()
  const config = readConfig()
  const { secretKey } = requireStores(config)
  const log = makeLog('ingest', config.logLevel)
  const metrics = makeMetrics('ingest', worker === undefined)
  return {
    config: { ...config, secretKey },
    folder: resolve(config.dataDir, 'ingest'),
    metrics,
    watched: watchMetrics(metrics),
    clock: systemClock,
    log: worker === undefined ? log : log.child({ worker }),
  }
}

/**
 * Leases of the writers of this start and of earlier ones. Their marks go on until all that they have begun is stored.
 */
async function openLeases(
  folder: string,
  writers: readonly number[],
  open: (writer: number) => Promise<SegmentLeases>,
): Promise<Map<number, SegmentLeases>> {
  const all = [...new Set([0, ...(await workerFolders(folder)), ...writers])]
  return new Map(await Promise.all(all.map(async (writer) => [writer, await open(writer)] as const)))
}

function makeDomains(
  { config, folder, clock, log }: Thread,
  pg: Postgres,
  keepsCopy: boolean,
  onHosts?: (hosts: readonly string[]) => void,
): DomainTable {
  return makeDomainTable({
    keepsCopy,
    clock,
    log,
    file: join(folder, 'short-domains.json'),
    ownHosts: ownHostsOf(config).map(({ host }) => host),
    listDomains: () => listServedDomains(pg),
    listen: (onNotify, onReconnect) => pg.listen('short_domains_changed', onNotify, onReconnect),
    ...(onHosts && { onHosts }),
  })
}

/** @param domains opened already, and not closed with the others */
async function openTables(
  { config, folder, clock, log }: Thread,
  pg: Postgres,
  keepsCopy: boolean,
  domains: DomainTable,
): Promise<Tables> {
  const common = { keepsCopy, clock, log }
  const keys = makeKeyTable({
    ...common,
    file: join(folder, 'tracking-keys.json'),
    listKeys: () => listTrackingKeys(pg),
    findKey: (key) => findTrackingKey(pg, key),
    listen: (onNotify, onReconnect) => pg.listen('keys_changed', onNotify, onReconnect),
  })
  const salts = makeSalts({
    ...common,
    file: join(folder, 'visitor-salts.json'),
    readOrMakeSalt: (day, newSalt) => readOrMakeSalt(pg, day, newSalt),
  })
  const links = makeLinkTable({
    ...common,
    file: join(folder, 'links.jsonl'),
    listChanged: (since, limit) => listRedirects(pg, since, limit),
    listDeletedWorkspaces: () => listDeletedWorkspaces(pg),
    findLink: (key, domainId) => findRedirect(pg, key, domainId),
    findLinkOfId: (id) => findRedirectOfId(pg, id),
    listen: (onNotify, onReconnect) => pg.listen('links_changed', onNotify, onReconnect),
  })
  const posts = makePostTable({
    ...common,
    file: join(folder, 'posts.txt'),
    listPosts: (afterId, limit) => listPostOwners(pg, afterId, limit),
    findPost: (id) => findPostOwner(pg, id),
  })
  const botLists = resolve(config.dataDir, botListsFolder)
  const [countries, botChecks] = await Promise.all([
    openCountries(config.countryDatabase),
    openBotChecks({ folder: botLists, servers: config.botDnsServers, clock, log }),
    ...[keys, links, posts, salts].map((table) => table.start()),
  ])
  const close = async () => {
    await Promise.all([keys, links, posts, salts, botChecks].map((each) => each.close()))
  }
  return { keys, links, domains, posts, salts, countries, botChecks, close }
}

function markStoreOf(pg: Postgres): MarkStore {
  return {
    advance: (marks, completeForMs) => advanceMarks(pg, marks, completeForMs),
    recordRepairs: (keys) =>
      recordRepairs(
        pg,
        keys.map(([workspaceId, hour]) => ({ workspaceId, hour })),
      ),
  }
}

/** Tells one boot of the machine from another; empty where the system has no such file. */
async function readBootId(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
}

if (isMainThread) {
  runNode().catch((error) => {
    const isExpected = [SettingError, CantListen, FolderInUse].some((kind) => error instanceof kind)
    process.stderr.write(`${isExpected ? error.message : error.stack}\n`)
    process.exit(1)
  })
} else {
  // A failure reaches the main thread as the thread's error.
  await runWorkerThread()
}
