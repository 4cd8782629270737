/**
 * The product under test: embedded stores on a temporary folder, migrated, with one workspace. Each service is a
 * process of its own, as `npm run ingest` runs it. All of it runs on the server's core.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouse, connectClickHouse } from '../clickhouse/client.ts'
import { migrateClickHouse } from '../clickhouse/migrate.ts'
import { connectPostgres, type Postgres } from '../postgres/client.ts'
import { migratePostgres } from '../postgres/migrate.ts'
import { createTrackingKey } from '../postgres/tables/workspaces/tracking-keys.ts'
import { createWorkspace } from '../postgres/tables/workspaces/workspaces.ts'
import { sleep } from '../runtime/retry.ts'
import { prepareClickHouse } from '../start/stores/clickhouse.ts'
import { preparePostgres } from '../start/stores/postgres.ts'
import { prepareRedis } from '../start/stores/redis.ts'
import type { Store } from '../start/stores/store.ts'
import { type BenchChild, startChild, stopProcess } from './child.ts'
import { atEnd } from './clean-up.ts'
import { type Cores, moveAllThreads, startOnCore } from './measure/cores.ts'
import { cpuSeconds, readCpu, secondsBetween } from './measure/cpu.ts'

export interface Backlog {
  readonly bytes: number
  readonly segments: number
}

export interface Stored {
  readonly rows: number
  readonly distinct: number
}

export type ServiceName = 'ingest' | 'api' | 'pipeline'
export const allServices: readonly ServiceName[] = ['ingest', 'api', 'pipeline']

export interface InstallationOptions {
  readonly services: readonly ServiceName[]
  /** Where all of it runs. */
  readonly side: 'server' | 'both'
}

export class Installation {
  private readonly ends: (() => Promise<void>)[] = []
  private readonly storePids = new Map<string, number>()
  private readonly running = new Map<ServiceName, BenchChild>()
  private clickhouse: ClickHouse | undefined
  private postgres: Postgres | undefined
  /** Variables for its services and commands. */
  environment: Readonly<Record<string, string>> = {}
  trackingKey = ''
  workspaceId = 0

  private constructor(
    readonly folder: string,
    private readonly cores: Cores | string,
    private readonly side: InstallationOptions['side'],
  ) {}

  static async start(
    cores: Cores | string,
    { services = ['ingest'], side = 'server' }: Partial<InstallationOptions> = {},
  ): Promise<Installation> {
    const installation = new Installation(mkdtempSync(join(tmpdir(), 'svc-bench-')), cores, side)
    try {
      await installation.startStores()
      for (const name of services) await installation.startService(name)
      return installation
    } catch (error) {
      await installation.stop()
      throw error
    }
  }

  service(name: ServiceName): BenchChild {
    const child = this.running.get(name)
    if (!child) throw new Error(`${name} is not running`)
    return child
  }

  /** Processes of the stores and of the services that run. */
  get pids(): readonly number[] {
    return [...this.storePids.values(), ...[...this.running.values()].map(({ pid }) => pid)]
  }

  /** All processes but this service's. */
  pidsBeside(name: ServiceName): readonly number[] {
    const { pid } = this.service(name)
    return this.pids.filter((other) => other !== pid)
  }

  storePid(name: Store['name']): number {
    return this.storePids.get(name)!
  }

  get ch(): ClickHouse {
    return this.clickhouse!
  }

  get pg(): Postgres {
    return this.postgres!
  }

  async startService(name: ServiceName): Promise<void> {
    const child = await startChild({
      file: `${name}/main.js`,
      cores: this.cores,
      side: this.side,
      logFile: join(this.folder, 'logs', `${name}.log`),
      env: this.environment,
    })
    this.running.set(name, child)
  }

  /** Lets all of it use both cores until `work` is done: for what isn't measured. */
  async onBothCores<T>(work: () => Promise<T>): Promise<T> {
    const { cores } = this
    if (typeof cores === 'string') return work()
    for (const pid of this.pids) moveAllThreads(pid, cores.both)
    try {
      return await work()
    } finally {
      for (const pid of this.pids) moveAllThreads(pid, cores[this.side])
    }
  }

  async backlog(): Promise<Backlog> {
    const response = await fetch(`http://127.0.0.1:${this.service('ingest').port}/api/v1/growth/health`)
    const { backlog } = (await response.json()) as { backlog: Record<string, Backlog> }
    const all = Object.values(backlog)
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      segments: all.reduce((sum, { segments }) => sum + segments, 0),
    }
  }

  /** Counts the stored events whose id begins with `prefix`. */
  async countStored(prefix: string): Promise<Stored> {
    const [stored] = await this.ch.query<Stored>(
      `SELECT count() AS rows, uniqExact(client_event_id) AS distinct FROM events
       WHERE startsWith(client_event_id, {prefix:String})`,
      { prefix },
      { deadlineMs: 120_000 },
    )
    return stored!
  }

  /** Waits until `rows` of that prefix are stored, or nothing more comes for `withinMs`. */
  async untilStored(prefix: string, rows: number, withinMs = 15_000): Promise<Stored> {
    let stored = await this.countStored(prefix)
    for (let since = Date.now(); stored.rows < rows && Date.now() - since < withinMs; ) {
      await sleep(250)
      const { rows: before } = stored
      stored = await this.countStored(prefix)
      if (stored.rows > before) since = Date.now()
    }
    return stored
  }

  /** Waits until merges and shipping no longer use the core: what one side left to do must not slow the other. */
  async untilQuiet(withinMs = 20_000): Promise<void> {
    for (const deadline = Date.now() + withinMs; Date.now() < deadline; ) {
      const from = readCpu()
      await sleep(500)
      const to = readCpu()
      if (cpuSeconds(from, to, this.pids) / secondsBetween(from, to) < 0.05) return
    }
  }

  readonly stop = atEnd(async () => {
    for (const service of this.running.values()) await service.stop()
    await this.clickhouse?.close()
    await this.postgres?.close()
    for (const end of this.ends.reverse()) await end()
    rmSync(this.folder, { recursive: true, force: true })
  })

  private async startStores(): Promise<void> {
    const prepared = [
      preparePostgres(join(this.folder, 'postgres')),
      prepareRedis(join(this.folder, 'redis')),
      prepareClickHouse(join(this.folder, 'clickhouse')),
    ]
    const [databaseUrl, redisUrl, clickhouseUrl] = await Promise.all(
      prepared.map((preparing) => preparing.then((store) => this.startStore(store))),
    )
    this.postgres = connectPostgres(databaseUrl!, { max: 2 })
    this.clickhouse = connectClickHouse(clickhouseUrl!)
    await Promise.all([migratePostgres(this.postgres), migrateClickHouse(this.clickhouse)])
    this.trackingKey = await this.postgres.transaction(async (tx) => {
      const { workspaceId } = await createWorkspace(tx, { name: 'Bench', timezone: 'UTC', plan: 'growth' })
      this.workspaceId = workspaceId
      return createTrackingKey(tx, workspaceId)
    })
    this.environment = {
      NODE_ENV: 'production',
      PORT: '0',
      LISTEN_HOST: '127.0.0.1',
      DATA_DIR: this.folder,
      DATABASE_URL: databaseUrl!,
      REDIS_URL: redisUrl!,
      CLICKHOUSE_URL: clickhouseUrl!,
      SECRET_KEY: randomBytes(32).toString('hex'),
      // One key asks more in a second than a customer's in a minute.
      ...Object.fromEntries(['STARTER', 'GROWTH', 'SCALE'].map((plan) => [`RATE_LIMIT_${plan}`, '1000000000'])),
    }
  }

  private async startStore(store: Store): Promise<string> {
    const child = startOnCore(this.cores, this.side, () => store.spawn())
    this.storePids.set(store.name, child.pid!)
    this.ends.push(() => stopProcess(child, store.endSignal))
    await store.ready(child)
    return store.url
  }
}
