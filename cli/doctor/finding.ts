/** Findings of an examination: one line of plain words each, and advice where something is to be done. */
import { StoreUnavailable } from '../../runtime/store-error.ts'

export type Outcome = 'ok' | 'warning' | 'failed'

export interface Finding {
  /** One of `checks`. Several findings may be of one check. */
  readonly check: Check
  readonly outcome: Outcome
  readonly text: string
}

/** In the order in which they are shown. `docs/cli.md` says what each looks at. */
export const checks = [
  'node',
  'settings',
  'postgres',
  'postgres.schema',
  'postgres.durability',
  'postgres.secret-key',
  'clickhouse',
  'clickhouse.schema',
  'clickhouse.durability',
  'clickhouse.repeats',
  'clickhouse.replicas',
  'clickhouse.disk',
  'redis',
  'redis.memory',
  'redis.durability',
  'clock',
  'disk',
  'ingest',
  'ingest.set-aside',
  'countries',
  'bots.addresses',
  'dedup.claims',
  'dedup.node',
  'salts',
  'marks',
  'fold',
  'mail',
] as const
export type Check = (typeof checks)[number]

export function ok(check: Check, text: string): Finding {
  return { check, outcome: 'ok', text }
}

export function warning(check: Check, text: string): Finding {
  return { check, outcome: 'warning', text }
}

export function failed(check: Check, text: string): Finding {
  return { check, outcome: 'failed', text }
}

export function tooOld(check: Check, found: string, oldest: string): Finding {
  return failed(check, `version ${found} is too old: ${oldest} or newer is needed`)
}

/** By the first two numbers. A version without a number isn't older: it names another store. */
export function isOlder(found: string, oldest: string): boolean {
  const [[major, minor], [leastMajor, leastMinor = 0]] = [found, oldest].map((text) => text.split('.').map(Number)) as [
    number[],
    [number, number?],
  ]
  return major! < leastMajor || (major === leastMajor && (minor ?? 0) < leastMinor)
}

/** One line of an error, whatever was thrown; of a store, without its name, which the check has. */
export function lineOf(error: unknown): string {
  // Node reports a name whose addresses all refuse without a message.
  const text = error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : String(error)
  const line = text.split('\n', 1)[0]!.trim()
  return error instanceof StoreUnavailable ? line.slice(`${error.store}: `.length) : line
}

/** `3 minutes`, `1.5 hours`. */
export function durationText(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1000)} seconds`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} minutes`
  return `${Math.round(ms / 360_000) / 10} hours`
}

/** `1.5 GB`. */
export function bytesText(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${Math.round(bytes / 1e8) / 10} GB`
}
