/**
 * The product under test: embedded stores on a temporary folder, migrated, with one workspace; ingest as a process of
 * its own, as `npm run ingest` runs it. All of it runs on the server's core.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouse, connectClickHouse } from '../clickhouse/client.ts'
import { migrateClickHouse } from '../clickhouse/migrate.ts'
import { connectPostgres } from '../postgres/client.ts'
import { migratePostgres } from '../postgres/migrate.ts'
import { createTrackingKey } from '../postgres/tables/tracking-keys.ts'
import { createWorkspace } from '../postgres/tables/workspaces.ts'
import { sleep } from '../runtime/retry.ts'
import { prepareClickHouse } from '../start/stores/clickhouse.ts'
import { preparePostgres } from '../start/stores/postgres.ts'
import { prepareRedis } from '../start/stores/redis.ts'
import type { Store } from '../start/stores/store.ts'
import { type BenchChild, startChild, stopProcess } from './child.ts'
import { atEnd } from './clean-up.ts'
import { type Cores, startOnCore } from './cores.ts'
import { cpuSeconds, readCpu, secondsBetween } from './cpu.ts'

export interface Backlog {
  readonly bytes: number
  readonly segments: number
}

export interface Stored {
  readonly rows: number
  readonly distinct: number
}

export class Installation {
  private readonly ends: (() => Promise<void>)[] = []
  private readonly storePids: number[] = []
  private environment: Record<string, string> = {}
  private running: BenchChild | undefined
  private clickhouse: ClickHouse | undefined
  trackingKey = ''

  private constructor(
    readonly folder: string,
    private readonly cores: Cores | string,
  ) {}

  static async start(cores: Cores | string): Promise<Installation> {
    const installation = new Installation(mkdtempSync(join(tmpdir(), 'svc-bench-')), cores)
    try {
      await installation.startStores()
      await installation.startIngest()
      return installation
    } catch (error) {
      await installation.stop()
      throw error
    }
  }

  get ingest(): BenchChild {
    if (!this.running) throw new Error('ingest is not running')
    return this.running
  }

  get stores(): readonly number[] {
    return this.storePids
  }

  get ch(): ClickHouse {
    return this.clickhouse!
  }

  async startIngest(nodeArguments: string[] = []): Promise<void> {
    this.running = await startChild({
      file: 'ingest/main.js',
      cores: this.cores,
      side: 'server',
      logFile: join(this.folder, 'logs', 'ingest.log'),
      env: this.environment,
      nodeArguments,
    })
  }

  async stopIngest(): Promise<void> {
    await this.running?.stop()
    this.running = undefined
  }

  async backlog(): Promise<Backlog> {
    const response = await fetch(`http://127.0.0.1:${this.ingest.port}/api/v1/growth/health`)
    const { backlog } = (await response.json()) as { backlog: Record<string, Backlog> }
    const all = Object.values(backlog)
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      segments: all.reduce((sum, { segments }) => sum + segments, 0),
    }
  }

  /** What is stored of the events whose id begins with `prefix`. */
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
    const ours = [...this.storePids, ...(this.running ? [this.running.pid] : [])]
    for (const deadline = Date.now() + withinMs; Date.now() < deadline; ) {
      const from = readCpu()
      await sleep(500)
      const to = readCpu()
      if (cpuSeconds(from, to, ours) / secondsBetween(from, to) < 0.05) return
    }
  }

  readonly stop = atEnd(async () => {
    await this.stopIngest()
    await this.clickhouse?.close()
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
    const pg = connectPostgres(databaseUrl!, { max: 2 })
    this.clickhouse = connectClickHouse(clickhouseUrl!)
    try {
      await Promise.all([migratePostgres(pg), migrateClickHouse(this.clickhouse)])
      this.trackingKey = await pg.transaction(async (tx) => {
        const { workspaceId } = await createWorkspace(tx, { name: 'Bench', timezone: 'UTC', plan: 'growth' })
        return createTrackingKey(tx, workspaceId)
      })
    } finally {
      await pg.close()
    }
    this.environment = {
      NODE_ENV: 'production',
      PORT: '0',
      LISTEN_HOST: '127.0.0.1',
      DATA_DIR: this.folder,
      DATABASE_URL: databaseUrl!,
      REDIS_URL: redisUrl!,
      CLICKHOUSE_URL: clickhouseUrl!,
      SECRET_KEY: randomBytes(32).toString('hex'),
    }
  }

  private async startStore(store: Store): Promise<string> {
    const child = startOnCore(this.cores, 'server', () => store.spawn())
    this.storePids.push(child.pid!)
    this.ends.push(() => stopProcess(child, store.endSignal))
    await store.ready(child)
    return store.url
  }
}
