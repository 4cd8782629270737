/** All that `npm start` runs, in the order in which it starts and stops. */
import { join } from 'node:path'
import { connectClickHouse } from '../clickhouse/client.ts'
import { migrateClickHouse } from '../clickhouse/migrate.ts'
import { connectPostgres, type Postgres } from '../postgres/client.ts'
import { migratePostgres } from '../postgres/migrate.ts'
import { requireOwnHosts } from '../postgres/tables/links/own-hosts.ts'
import { createSignInLink } from '../postgres/tables/members/owner-sessions.ts'
import { bindSecretKey, forgetLostKey, requireSecretKey } from '../postgres/tables/operation/secret-key-check.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Config } from '../runtime/config.ts'
import { isEveryAddress, isLoopback } from '../runtime/loopback.ts'
import { shortLinkPathOf } from '../runtime/public-hosts.ts'
import { sleep } from '../runtime/retry.ts'
import { StoreUnavailable } from '../runtime/store-error.ts'
import { scriptUrlOf } from '../schemas/install-snippet.ts'
import { type DataFolder, keptSecretKey, makeSecretKey, StartRefused } from './data-folder.ts'
import { type DevFile, type Pids, processNames, readDevFile, writeDevFile } from './dev-file.ts'
import { type FirstWorkspace, firstWorkspace } from './first-workspace.ts'
import { makeDemoSite } from './front/demo-site.ts'
import { type Front, startFront } from './front/front.ts'
import { isShortLink } from './front/service-of-path.ts'
import { statusPage } from './front/status-page.ts'
import { trustedProxiesOf } from './front/trusted-proxies.ts'
import { endLeftOver } from './processes/left-over.ts'
import { boundLogFile, withLastLine } from './processes/log-file.ts'
import { prepareServices, type Service, serviceNames } from './processes/services.ts'
import { type Supervised, supervise, type Watcher } from './processes/supervise.ts'
import { say } from './say.ts'
import { embeddedStores, type StoreUrls } from './stores/embedded-stores.ts'

export interface Started {
  /** Where this machine reaches it, without a slash at its end. */
  localRoot: string
  dev: DevFile
  /** The secret key was made at this start: show it. */
  isNewKey: boolean
  /** Signs the owner in to the dashboard, once. */
  signInUrl: string
  hasDemo: boolean
}

export interface Product {
  /** Resolves when all services serve. */
  start(): Promise<Started>
  /** At any time, also in the middle of a start. */
  stop(): Promise<void>
}

/** A store given by a URL may still be starting itself. */
const storesWithinMs = 60_000
const logCheckMs = 60_000
/** Services that take longer to start are named, with what they wait for. */
const longStartMs = 10_000

export function makeProduct(config: Config, folder: DataFolder): Product {
  const running: { front?: Front; services: Supervised[]; stores: Supervised[] } = { services: [], stores: [] }
  let services: Service[] = []
  const logFiles = new Set<string>()
  let dev: Omit<DevFile, 'pids'> | undefined
  /** Known once it is served. */
  let scriptUrl: string | undefined
  /** As ingest knows them; undefined until it has said so. */
  let shortDomains: ReadonlySet<string> | undefined
  let isStopping = false
  /** Under a public address strangers would find it, and count as visitors of the owner's site. */
  const hasDemo = config.apiHost === undefined || isLoopback(new URL(config.apiHost).hostname)

  const watcher: Watcher = {
    changed: () => void writeDev(),
    died: (name, how, againInMs) => sayDied(folder.path, name, how, againInMs),
  }

  function startSupervised(runnable: Parameters<typeof supervise>[0]): Supervised {
    if (isStopping) throw new StartRefused('stopped in the middle of the start')
    logFiles.add(runnable.logFile)
    return supervise(runnable, watcher)
  }

  async function start(): Promise<Started> {
    const trusted = trustedProxiesOf(config.trustedProxies, config.listenHost)
    // First of all, because a busy port is the likeliest failure; it answers 503 until the services are there.
    const front = await startFront({
      host: config.listenHost,
      port: config.port,
      portOf: (name) => {
        const isUp = running.services.some((kept) => kept.name === name && kept.isUp)
        return isUp ? services.find((service) => service.name === name)?.port : undefined
      },
      // Until the hosts are known, a path that may be a key is ingest's: it answers what it can't know with 503.
      isAtShortDomain: (host, path) => shortDomains?.has(host) ?? isShortLink(path, ''),
      page: async () => {
        const { localRoot } = addressesOf(config, front.port)
        return statusPage([...running.services, ...running.stores], givenStores(config), localRoot, hasDemo)
      },
      ...(hasDemo && { demo: makeDemoSite(() => scriptUrl) }),
      ...(config.shortUrlHost !== undefined && { shortLinkPath: shortLinkPathOf(config.shortUrlHost) }),
      countryHeader: config.countryHeader,
      trustedProxies: trusted.front,
    })
    running.front = front

    const earlier = readDevFile(folder.path)
    await endEarlierServices(earlier)
    const urls = await embeddedStores(config, folder.path, (store) => {
      const kept = startSupervised(store)
      running.stores.push(kept)
      return kept
    })
    const first = await prepareStores(urls, earlier, async (pg) => {
      await requireOwnHosts(pg, config)
      return secretKeyOf(config, folder, pg)
    })

    const addresses = addressesOf(config, front.port)
    const { secretKey } = first
    const { nodeEnv } = config
    const dataDir = folder.path
    const settings = { dataDir, secretKey, trustedProxies: trusted.services, nodeEnv, ...urls, ...addresses }
    services = await prepareServices(settings, (hosts) => {
      shortDomains = new Set(hosts)
    })
    running.services = services.map(({ runnable }) => startSupervised(runnable))

    const ingestPort = services.find((service) => service.name === 'ingest')!.port
    dev = {
      ...devOf(addresses, ingestPort, first, urls, folder.path),
      has_mail: config.smtpServer !== undefined && config.mailFrom !== undefined,
    }
    const written = writeDev()
    setInterval(() => logFiles.forEach(boundLogFile), logCheckMs).unref()
    const telling = tellLate(folder.path, running.services)
    await Promise.all(running.services.map(({ firstUp }) => firstUp)).finally(() => clearInterval(telling))
    scriptUrl = scriptUrlOf(addresses.apiHost, first.trackingKey)
    const signInUrl = `${addresses.localRoot}/dashboard/sign-in?token=${first.signInToken}`
    return { localRoot: addresses.localRoot, dev: written!, isNewKey: first.isNew, signInUrl, hasDemo }
  }

  /** Once its content is known: anew whenever a process comes or goes. */
  function writeDev(): DevFile | undefined {
    if (!dev) return undefined
    const content = { ...dev, pids: pidsOf([...running.services, ...running.stores]) }
    try {
      writeDevFile(content)
    } catch (error) {
      // A full disk is no reason to end running processes.
      say(`dev.json couldn't be written: ${(error as Error).message}`)
    }
    return content
  }

  /** A supervisor that was killed leaves services that are still stopping by themselves. */
  async function endEarlierServices(earlier: Partial<DevFile>): Promise<void> {
    const pids = serviceNames.map((name) => earlier.pids?.[name] ?? 0)
    await Promise.all(pids.map((pid) => endLeftOver(pid, folder.path, 'SIGTERM')))
    // Until it is written anew, nobody is to take the processes of the last start for those of this one.
    if (earlier.pids) writeDevFile({ ...(earlier as DevFile), data_dir: folder.path, pids: pidsOf([]) })
  }

  return {
    start,
    stop: async () => {
      isStopping = true
      // Whoever stops this process may have ended the others too: who ends before its turn stays ended.
      for (const kept of [...running.services, ...running.stores]) kept.letDie()
      await running.front?.close()
      for (const kept of running.services) await kept.stop()
      await Promise.all(running.stores.map((kept) => kept.stop()))
    },
  }
}

function sayDied(dataDir: string, name: string, how: string, againInMs: number): void {
  const why = how.startsWith('exit') ? withLastLine(how, join(dataDir, 'logs', `${name}.log`)) : how
  const when = againInMs > 1_000 ? ` in ${Math.round(againInMs / 1_000)} s` : ''
  say(`${name} ended (${why}), starting it again${when}`)
}

/** Says now and then which services aren't up, each line once. */
function tellLate(dataDir: string, services: readonly Supervised[]): NodeJS.Timeout {
  const told = new Set<string>()
  // The last line of a log may be that of the stop before.
  const since = systemClock.now()
  return setInterval(() => {
    for (const { name } of services.filter(({ isUp }) => !isUp)) {
      const line = withLastLine(`${name} isn't up yet`, join(dataDir, 'logs', `${name}.log`), since)
      if (!told.has(line)) say(line)
      told.add(line)
    }
  }, longStartMs)
}

/** Brings the schemas up to date and sees to it that there is a workspace. */
async function prepareStores(
  urls: StoreUrls,
  earlier: Partial<DevFile>,
  findSecretKey: (pg: Postgres) => Promise<string>,
): Promise<FirstWorkspace & { readonly signInToken: string; readonly secretKey: string }> {
  const pg = connectPostgres(urls.databaseUrl, { max: 2 })
  const ch = connectClickHouse(urls.clickhouseUrl)
  try {
    const [ranHere, ranThere] = await Promise.all([
      whenUp(() => migratePostgres(pg)),
      whenUp(() => migrateClickHouse(ch)),
    ])
    const ran = ranHere.length + ranThere.length
    if (ran > 0) say(`migrated the stores (${ran} steps)`)
    const secretKey = await findSecretKey(pg)
    const first = await firstWorkspace(pg, earlier)
    return { ...first, secretKey, signInToken: (await createSignInLink(pg, first.workspaceId, systemClock.now()))! }
  } finally {
    await Promise.all([pg.close(), ch.close()])
  }
}

/** @throws OtherSecretKey where the data has another, or has one that is lost: a new one would be wrong in silence */
async function secretKeyOf(config: Config, folder: DataFolder, pg: Postgres): Promise<string> {
  const known = config.secretKey || keptSecretKey(folder)
  await forgetLostKey(pg, config)
  await requireSecretKey(pg, known)
  const secretKey = known ?? (await makeSecretKey(folder))
  await bindSecretKey(pg, { ...config, secretKey })
  return secretKey
}

/** Repeats `work` while its store isn't there. */
async function whenUp<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + storesWithinMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > deadline) throw error
      if (attempt === 0) say(`waiting for ${error.message}`)
      await sleep(500)
    }
  }
}

/** Where the product is reached: from this machine, and by the world. */
interface Addresses {
  readonly localRoot: string
  readonly apiHost: string
  readonly shortUrlHost: string
}

function addressesOf(config: Config, port: number): Addresses {
  const localRoot = `http://${localNameOf(config.listenHost)}:${port}`
  const apiHost = config.apiHost ?? localRoot
  return { localRoot, apiHost, shortUrlHost: config.shortUrlHost ?? `${apiHost}/l` }
}

/** Where the front listens on another address alone, `localhost` leads nowhere. */
function localNameOf(host: string): string {
  if (['127.0.0.1', '::1', 'localhost'].includes(host) || isEveryAddress(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function devOf(
  { localRoot, apiHost, shortUrlHost }: Addresses,
  ingestPort: number,
  { trackingKey, apiKey, workspaceId }: FirstWorkspace,
  { clickhouseUrl, databaseUrl, redisUrl }: StoreUrls,
  dataDir: string,
): Omit<DevFile, 'pids' | 'has_mail'> {
  return {
    base_url: `${localRoot}/v1`,
    api_host: apiHost,
    mcp_url: `${localRoot}/mcp`,
    tracking_url: `http://127.0.0.1:${ingestPort}/api/v1/growth`,
    short_url_host: shortUrlHost,
    tracking_key: trackingKey,
    api_key: apiKey,
    workspace_id: workspaceId,
    clickhouse_url: clickhouseUrl,
    database_url: databaseUrl,
    redis_url: redisUrl,
    data_dir: dataDir,
  }
}

function pidsOf(children: readonly Supervised[]): Pids {
  const pids = processNames.map((name) => [name, children.find((kept) => kept.name === name)?.pid ?? null])
  return Object.fromEntries(pids) as Pids
}

function givenStores({ databaseUrl, redisUrl, clickhouseUrl }: Config): string[] {
  const given = { postgres: databaseUrl, redis: redisUrl, clickhouse: clickhouseUrl }
  return Object.entries(given).flatMap(([name, url]) => (url ? [name] : []))
}
