/** ClickHouse, as far as what is promised rests on it: the log lets go of what it has acknowledged. */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { pendingInClickHouse } from '../../clickhouse/migrate.ts'
import {
  insertTokensKnownMin,
  replicaBehindWarnMs,
  storeDiskFreeBytesMin,
  storeDiskFreeShareWarn,
} from '../../schemas/limits/doctor-limits.ts'
import { judgeSchema } from './examine-postgres.ts'
import { bytesText, durationText, type Finding, failed, ok, warning } from './finding.ts'

export async function examineClickHouse(ch: ClickHouse): Promise<Finding[]> {
  return [
    await judgeSchema('clickhouse.schema', () => pendingInClickHouse(ch)),
    ...(await tables(ch)),
    ...(await replicas(ch)),
    ...(await disks(ch)),
  ]
}

interface Table {
  readonly name: string
  readonly engine: string
  /** The engine with its settings, as in the statement that made it. */
  readonly engine_full: string
}

/** Settings without which an acknowledged insert may be gone after a power loss; merges replace what was synced. */
const syncing = ['fsync_after_insert', 'fsync_part_directory', 'min_rows_to_fsync_after_merge']
/** Where rows are inserted by their token. */
const rowTables = ['events', 'bot_visits', 'link_clicks', 'replay_chunks']

async function tables(ch: ClickHouse): Promise<Finding[]> {
  const all = await ch.query<Table>(
    `SELECT name, engine, engine_full FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations' ORDER BY name`,
  )
  const rowsAreHere = all.filter(({ name }) => rowTables.includes(name))
  if (rowsAreHere.length === 0) return []
  const defaults = new Map(
    (
      await ch.query<{ name: string; value: string }>(
        `SELECT name, value FROM system.merge_tree_settings
         WHERE has({names:Array(String)}, name) OR name LIKE '%_deduplication_window'`,
        { names: syncing },
      )
    ).map(({ name, value }) => [name, value]),
  )
  const effective = ({ engine_full }: Table, setting: string): number => {
    const given = new RegExp(`\\b${setting} = '?([^',\\s]+)`).exec(engine_full)?.[1]
    const value = given ?? defaults.get(setting) ?? '0'
    return value === 'true' ? 1 : Number(value) || 0
  }

  const findings: Finding[] = []
  for (const table of all) {
    const missing = syncing.filter((setting) => effective(table, setting) === 0)
    if (missing.length === 0) continue
    const set = missing.map((setting) => `${setting} = 1`).join(', ')
    const mend = `ALTER TABLE ${table.name} MODIFY SETTING ${set}`
    findings.push(failed('clickhouse.durability', `${table.name} doesn't sync, a power loss takes rows: ${mend}`))
  }
  if (findings.length === 0) findings.push(ok('clickhouse.durability', 'rows are synced before an insert is answered'))
  return [...findings, ...rowsAreHere.map((table) => tokens(table, effective))]
}

function tokens(table: Table, effective: (table: Table, setting: string) => number): Finding {
  const isReplicated = table.engine.startsWith('Replicated') || table.engine.startsWith('Shared')
  const setting = isReplicated ? 'replicated_deduplication_window' : 'non_replicated_deduplication_window'
  const known = effective(table, setting)
  if (known >= insertTokensKnownMin) {
    return ok('clickhouse.repeats', `${table.name} knows its last ${known} inserts again`)
  }
  const mend = `ALTER TABLE ${table.name} MODIFY SETTING ${setting} = ${insertTokensKnownMin}`
  return known === 0
    ? failed('clickhouse.repeats', `${table.name} knows no insert again, one that comes late counts twice: ${mend}`)
    : warning('clickhouse.repeats', `${table.name} knows only its last ${known} inserts again: ${mend}`)
}

async function replicas(ch: ClickHouse): Promise<Finding[]> {
  const all = await ch.query<{ table: string; is_readonly: number; absolute_delay: number; queue_size: number }>(
    'SELECT table, is_readonly, absolute_delay, queue_size FROM system.replicas WHERE database = currentDatabase()',
  )
  if (all.length === 0) return []
  const findings = all.flatMap(({ table, is_readonly, absolute_delay, queue_size }) => {
    if (is_readonly) {
      return [failed('clickhouse.replicas', `${table} takes no writes here: look at ClickHouse Keeper and its log`)]
    }
    if (absolute_delay * 1000 < replicaBehindWarnMs) return []
    const behind = `${table} is ${durationText(absolute_delay * 1000)} behind with ${queue_size} tasks in its queue`
    return [warning('clickhouse.replicas', `${behind}: see last_exception in system.replication_queue`)]
  })
  return findings.length > 0 ? findings : [ok('clickhouse.replicas', `${all.length} replicated tables are up to date`)]
}

async function disks(ch: ClickHouse): Promise<Finding[]> {
  const all = await ch.query<{ name: string; free: number; total: number }>(
    `SELECT name, toFloat64(free_space) AS free, toFloat64(total_space) AS total FROM system.disks
     WHERE type = 'Local' OR type = 'local'`,
  )
  return all.map(({ name, free, total }) => {
    const text = `${bytesText(free)} of ${bytesText(total)} are free on its disk ${name}`
    if (free < storeDiskFreeBytesMin) return failed('clickhouse.disk', `${text}: make room, or inserts fail`)
    if (free < total * storeDiskFreeShareWarn) return warning('clickhouse.disk', `${text}: make room for merges`)
    return ok('clickhouse.disk', text)
  })
}
