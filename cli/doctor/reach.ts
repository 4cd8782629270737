/** Whether each store answers, with which version and how fast, and how far its clock is from this machine's. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { readClickHouseClock } from '../../clickhouse/clock.ts'
import { connectPostgres, type Postgres } from '../../postgres/client.ts'
import { readPostgresClock } from '../../postgres/clock.ts'
import { withDeadline } from '../../runtime/shutdown.ts'
import { clockOffFailMs, clockOffWarnMs, probeDeadlineMs } from '../../schemas/limits/doctor-limits.ts'
import { CommandFailed } from '../command.ts'
import type { Installation } from '../installation.ts'
import { durationText, type Finding, failed, isOlder, lineOf, ok, tooOld, warning } from './finding.ts'
import { connectRedis, type RedisProbe } from './redis-probe.ts'

type StoreName = 'postgres' | 'clickhouse' | 'redis'

/** Those that answer. */
export interface Reached {
  pg?: Postgres
  ch?: ClickHouse
  redis?: RedisProbe
}

interface Probe<Store> {
  readonly check: StoreName
  readonly setting: string
  open(): Store
  /** Where the installation doesn't close it. */
  close?(store: Store): void
  /** Rejects when it doesn't answer. */
  ping(store: Store): Promise<unknown>
  version(store: Store): Promise<string>
  /** The oldest version that will do. */
  readonly oldest: string
  /** Milliseconds since 1970. */
  clock(store: Store): Promise<number>
}

const pings = 3
const withinProbe = { deadlineMs: probeDeadlineMs }
/** Later the store's own client gives up, without a deadline in its text. */
const endMs = 500

/**
 * @param wrong settings that can't be used: a store with a wrong URL isn't looked for, and the setting's own finding says why
 * @returns the stores that answer beside what was found of all
 */
export async function reachStores(
  installation: Installation,
  wrong: ReadonlySet<string>,
): Promise<{ reached: Reached; findings: Finding[] }> {
  const reached: Reached = {}
  const postgres: Probe<Postgres> = {
    check: 'postgres',
    setting: 'DATABASE_URL',
    // A connection of its own: others are waited for as long as a person at a command line waits.
    open: () => connectPostgres(installation.databaseUrl(), { max: 1, deadlineMs: probeDeadlineMs + endMs }),
    close: (pg) => void pg.close(),
    ping: (pg) => pg.query('SELECT 1', [], withinProbe),
    version: async (pg) => (await pg.query<{ server_version: string }>('SHOW server_version'))[0]!.server_version,
    oldest: '15',
    clock: (pg) => readPostgresClock(pg, withinProbe),
  }
  const clickhouse: Probe<ClickHouse> = {
    check: 'clickhouse',
    setting: 'CLICKHOUSE_URL',
    open: installation.clickhouse,
    ping: (ch) => ch.query('SELECT 1', {}, withinProbe),
    version: async (ch) => (await ch.query<{ version: string }>('SELECT version() AS version'))[0]!.version,
    // Overviews need a setting that came with it: docs/settings.md.
    oldest: '25.6',
    clock: (ch) => readClickHouseClock(ch, withinProbe),
  }
  const redis: Probe<RedisProbe> = {
    check: 'redis',
    setting: 'REDIS_URL',
    open: () => connectRedis(installation.redisUrl()),
    close: (probe) => probe.close(),
    ping: (probe) => probe.ping(),
    version: async (probe) => {
      const { redis_version: version, valkey_version: valkey } = await probe.info()
      return valkey === undefined ? String(version) : `Valkey ${valkey}`
    },
    // Valkey, whose text begins with its name, began with what Redis 7 has.
    oldest: '7',
    clock: (probe) => probe.now(),
  }
  const looked = await Promise.all([
    look(postgres, wrong, (pg) => {
      void pg.close()
      reached.pg = installation.postgres()
    }),
    look(clickhouse, wrong, (ch) => {
      reached.ch = ch
    }),
    look(redis, wrong, (probe) => {
      reached.redis = probe
    }),
  ])
  return { reached, findings: looked.flat() }
}

async function look<Store>(
  { check, setting, open, close, ping, version, oldest, clock }: Probe<Store>,
  wrong: ReadonlySet<string>,
  keep: (store: Store) => void,
): Promise<Finding[]> {
  if (wrong.has(setting)) return []
  let opened: Store | undefined
  try {
    const store = open()
    opened = store
    await withDeadline(ping(store), probeDeadlineMs, 'its answer')
    const latencies: number[] = []
    for (let at = 0; at < pings; at++) {
      const startedAt = performance.now()
      await ping(store)
      latencies.push(performance.now() - startedAt)
    }
    const found = await version(store)
    const offset = await clockOffset(() => clock(store))
    keep(store)
    const ms = Math.round(Math.min(...latencies) * 10) / 10
    return [
      isOlder(found, oldest) ? tooOld(check, found, oldest) : ok(check, `version ${found}, answers in ${ms} ms`),
      judgeClock(check, offset),
    ]
  } catch (error) {
    if (opened !== undefined) close?.(opened)
    // It says itself where it looked and what to set.
    if (error instanceof CommandFailed) return [failed(check, error.message)]
    const line = lineOf(error)
    if (check === 'clickhouse' && isMissingDatabase(line)) return [failed(check, `${line}: \`svc migrate\` makes it`)]
    if (isMissingDatabase(line)) return [failed(check, `${line}: make it, then \`svc migrate\``)]
    return [failed(check, `${line}: see whether it runs, and whether ${setting} names it`)]
  }
}

function isMissingDatabase(line: string): boolean {
  return /database .* (does not|doesn't) exist/i.test(line)
}

/** How far ahead of ours the clock that `read` reads is for certain: what the call took is in its favour. */
async function clockOffset(read: () => Promise<number>): Promise<number> {
  const before = Date.now()
  const theirs = await read()
  const after = Date.now()
  if (theirs > after) return theirs - after
  return theirs < before ? theirs - before : 0
}

function judgeClock(store: StoreName, offsetMs: number): Finding {
  const off = Math.abs(offsetMs)
  if (off <= clockOffWarnMs) return ok('clock', `this machine's and that of ${store} agree to a second`)
  const text = `that of ${store} is ${durationText(off)} ${offsetMs > 0 ? 'ahead of' : 'behind'} this machine's: set both by NTP`
  return off > clockOffFailMs ? failed('clock', text) : warning('clock', text)
}
