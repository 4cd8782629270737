/**
 * Where the stores are: those of the environment, or else those of a running DATA_DIR, whose `dev.json` names them.
 * Each is opened when a command first asks for it, and all are closed together.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ClickHouse, connectClickHouse } from '../clickhouse/client.ts'
import { connectPostgres, type Postgres } from '../postgres/client.ts'
import { requireSecretKey } from '../postgres/tables/operation/secret-key-check.ts'
import { listWorkspaces, readWorkspace, type Workspace } from '../postgres/tables/workspaces/workspaces.ts'
import type { Config } from '../runtime/config.ts'
import { isFolderInUse } from '../runtime/folder-lock.mjs'
import { clickhouseHelloDeadlineMs, commandPostgresDeadlineMs } from '../schemas/limits/store-limits.ts'
import { CommandFailed } from './command.ts'

/** Fields of DATA_DIR/dev.json, written by `npm start`, that commands use. */
interface RunningProduct {
  readonly base_url?: string
  /** Where the world reaches it. */
  readonly api_host?: string
  readonly tracking_url?: string
  readonly tracking_key?: string
  readonly database_url?: string
  readonly clickhouse_url?: string
  readonly redis_url?: string
  readonly has_mail?: boolean
  /** Ids of the processes; none where the file was written by hand. */
  readonly pids?: Readonly<Record<string, number | null>>
}

export interface Installation {
  readonly config: Config
  /** The data folder as an absolute path. */
  readonly dataDir: string
  databaseUrl(): string
  postgres(): Postgres
  clickhouse(): ClickHouse
  /**
   * The same, once it has answered: for statements that may take minutes.
   * @throws StoreUnavailable within seconds where it hangs
   */
  answeringClickhouse(): Promise<ClickHouse>
  redisUrl(): string
  /** Root of the public tracking interface, without a slash at its end. */
  trackingUrl(): string
  /** The public root, without a slash at its end. */
  publicUrl(): string
  /** The root of the running product on this machine. */
  localUrl(): string
  /**
   * The installation's secret: of the environment, or of the data folder; undefined where neither has one.
   * @throws OtherSecretKey where the data in Postgres was made with another
   */
  secretKey(): Promise<string | undefined>
  /** The same without looking at Postgres. */
  givenSecretKey(): string | undefined
  /** The secret that was made in the data folder, whatever the environment says. */
  keptSecret(): string | undefined
  /** Root of the tracking interface on ingest's own port, where the running product is that of our Postgres. */
  runningIngestUrl(): string | undefined
  /** The tracking key of the running product's first workspace, if one runs. */
  runningTrackingKey(): string | undefined
  /** Whether the running product of our stores was given a mail server and a sender. */
  hasRunningMail(): boolean
  /**
   * The workspace of this id, or without one the first.
   * @throws CommandFailed when there is none
   */
  workspace(id: number | undefined): Promise<Workspace>
  close(): Promise<void>
}

/** @param clickhouseHelloMs how long a command waits for a first word of ClickHouse's */
export function openInstallation(config: Config, clickhouseHelloMs = clickhouseHelloDeadlineMs): Installation {
  const dataDir = resolve(config.dataDir)
  let running: RunningProduct | undefined
  let postgres: Postgres | undefined
  let clickhouse: ClickHouse | undefined

  function runningProduct(): RunningProduct {
    running ??= readRunning(dataDir)
    return running
  }

  /** Whether the environment names no other stores than the running product: two installations are never mixed. */
  function isRunningOurs(): boolean {
    const { database_url, clickhouse_url, redis_url } = runningProduct()
    const isSame = (ours: string | undefined, its: string | undefined) =>
      ours === undefined || its === undefined || ours === its
    return (
      isSame(config.databaseUrl, database_url) &&
      isSame(config.clickhouseUrl, clickhouse_url) &&
      isSame(config.redisUrl, redis_url)
    )
  }

  /** `fromEnvironment`, else what the running product says, else a line that names both ways. */
  function locate(
    setting: string,
    fromEnvironment: string | undefined,
    field: Exclude<keyof RunningProduct, 'has_mail' | 'pids'>,
  ): string {
    const found = fromEnvironment ?? (isRunningOurs() ? runningProduct()[field] : undefined)
    if (found !== undefined) return found
    if (!isRunningOurs()) {
      throw new CommandFailed(`${setting} isn't set, and the environment names stores: set ${setting} as well`)
    }
    throw new CommandFailed(
      `${setting} isn't set and nothing runs in the data folder ${dataDir}: set ${setting}, or \`npm start\` first (DATA_DIR names another folder)`,
    )
  }

  const installation: Installation = {
    config,
    dataDir,
    databaseUrl: () => locate('DATABASE_URL', config.databaseUrl, 'database_url'),
    postgres: () => {
      postgres ??= connectPostgres(installation.databaseUrl(), {
        max: 2,
        deadlineMs: commandPostgresDeadlineMs,
      })
      return postgres
    },
    clickhouse: () => {
      clickhouse ??= connectClickHouse(locate('CLICKHOUSE_URL', config.clickhouseUrl, 'clickhouse_url'))
      return clickhouse
    },
    answeringClickhouse: async () => {
      const ch = installation.clickhouse()
      await ch.query('SELECT 1', {}, { deadlineMs: clickhouseHelloMs })
      return ch
    },
    redisUrl: () => locate('REDIS_URL', config.redisUrl, 'redis_url'),
    trackingUrl: () => {
      const ofApi = config.apiHost && `${config.apiHost}/api/v1/growth`
      return locate('API_HOST', ofApi, 'tracking_url')
    },
    // The running product's `base_url` is the root of the API's paths.
    publicUrl: () => {
      const running = isRunningOurs() ? runningProduct().api_host : undefined
      return (config.apiHost ?? running ?? locate('API_HOST', undefined, 'base_url').replace(/\/v1$/, '')).replace(
        /\/+$/,
        '',
      )
    },
    localUrl: () => {
      const { base_url } = runningProduct()
      if (base_url !== undefined && isRunningOurs()) return base_url.replace(/\/v1$/, '')
      throw new CommandFailed(
        `the product of these stores doesn't run in the data folder ${dataDir}: \`npm start\` first (DATA_DIR names another folder)`,
      )
    },
    // A kept secret is that of the stores of its folder, whether or not they run.
    givenSecretKey: () => {
      const isOfFolder = config.databaseUrl === undefined || config.databaseUrl === readWritten(dataDir).database_url
      return config.secretKey || (isOfFolder ? installation.keptSecret() : undefined)
    },
    secretKey: async () => {
      const key = installation.givenSecretKey()
      // A data folder may keep the key of a time before SECRET_KEY was set.
      if (key !== undefined) await requireSecretKey(installation.postgres(), key)
      return key
    },
    keptSecret: () => readIfThere(join(dataDir, 'secret.key'))?.trim(),
    runningIngestUrl: () => (isRunningOurs() ? runningProduct().tracking_url : undefined),
    hasRunningMail: () => isRunningOurs() && runningProduct().has_mail === true,
    // Stores of the environment are another installation than the running one.
    runningTrackingKey: () => (config.databaseUrl ? undefined : runningProduct().tracking_key),
    workspace: async (id) => {
      const pg = installation.postgres()
      const workspace = id === undefined ? (await listWorkspaces(pg))[0] : await readWorkspace(pg, id)
      if (workspace) return workspace
      throw new CommandFailed(
        id === undefined
          ? 'there is no workspace yet: `svc workspace create` makes one'
          : `there is no workspace ${id}`,
      )
    },
    close: async () => {
      await Promise.all([postgres?.close(), clickhouse?.close()])
    },
  }
  return installation
}

/** The file outlives what it tells of: once the start that wrote it has ended, nothing is where it says. */
function readRunning(dataDir: string): RunningProduct {
  const written = readWritten(dataDir)
  return written.pids === undefined || isFolderInUse(dataDir) ? written : {}
}

/** Reads the file of the last start, whether or not it runs. */
function readWritten(dataDir: string): RunningProduct {
  const path = join(dataDir, 'dev.json')
  const text = readIfThere(path)
  if (text === undefined) return {}
  try {
    return JSON.parse(text) as RunningProduct
  } catch {
    throw new CommandFailed(`${path} isn't JSON: start the product again to have it written anew`)
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandFailed(`${path} can't be read: ${(error as Error).message}`)
  }
}
