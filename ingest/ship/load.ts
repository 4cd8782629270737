/**
 * Puts a manifest's rows into ClickHouse exactly once.
 *
 * The first try is one insert under the manifest's token. A definite success ends it. Any other outcome is unknown, and the
 * token alone doesn't settle it. A single ClickHouse that died inside an insert can remember the token of a part that
 * it never committed. So these steps repeat until they succeed:
 *
 *   1. Make sure that the insert no longer runs, and ask which ids are there. If none is missing, it is done.
 *   2. If all are missing, send all rows again under the same token. ClickHouse then knows the token. If the first try is
 *      still in transit (a paused server reads its sockets when it resumes), it stores nothing.
 *      If only some are missing, the first try has run and won't continue.
 *   3. Ask again. Rows that are still missing were swallowed by a token without a part: insert them under a new token.
 *
 * Rows that ClickHouse refuses are found by bisection and set aside one by one.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { InsertRefused } from '../../clickhouse/insert.ts'
import { columnsOf, type StreamName } from '../../schemas/event/row.ts'
import { decodeRow } from '../../schemas/event/row-codec.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { type Batch, columnNamesOf, forEachRow, keptBy, keptRuns } from './batch.ts'
import type { Manifest } from './manifest.ts'
import type { SetAside } from './set-aside.ts'

export interface LoadOptions {
  readonly stream: StreamName
  readonly clickhouse: ClickHouse
  readonly setAside: SetAside
  /** After which the outcome of an insert counts as unknown. */
  readonly insertDeadlineMs: number
}

/**
 * One insert of all rows under the manifest's token.
 * @throws StoreUnavailable when the outcome is unknown, InsertRefused when a row can't be read: then `settle`
 */
export async function loadOnce(
  { stream, clickhouse, insertDeadlineMs }: LoadOptions,
  manifest: Manifest,
  batch: Batch,
): Promise<void> {
  const token = `${stream}-${manifest.id}`
  await clickhouse.insertRows({
    table: stream,
    columns: columnNamesOf(stream, batch),
    bytes: keptRuns(batch, keptBy(manifest)),
    token,
    queryId: token,
    deadlineMs: insertDeadlineMs,
  })
}

/**
 * Makes an uncertain manifest certain. May be repeated whenever it throws.
 * @param attempt tells the tokens of repeats apart: nothing under one of them may be there from before
 * @param beforeInsert is waited for when rows are missing
 * @returns how many rows had been missing
 * @throws StoreUnavailable
 */
export async function settle(
  options: LoadOptions,
  manifest: Manifest,
  batch: Batch,
  attempt: string,
  beforeInsert: () => Promise<void>,
): Promise<number> {
  const { stream, clickhouse } = options
  const name = `${stream}-${manifest.id}`
  // Every repair of a manifest runs under one query id, so that one left running by a process that died is found too.
  await clickhouse.killInsert(name)
  await clickhouse.killInsert(`${name}/settle`)
  const missing = await missingIds(options, manifest, batch)
  if (missing.length === 0) return 0
  await beforeInsert()
  let left = missing
  if (missing.length === countKept(manifest, batch)) {
    await loadOnce(options, manifest, batch).catch(unlessRefused)
    left = await missingIds(options, manifest, batch)
  }
  await insertMissing(options, manifest, batch, left, `${name}/settle/${attempt}`)
  return missing.length
}

/** A row that can't be read refuses the whole insert: it is found among the rows that are missing. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof InsertRefused)) throw error
}

function countKept(manifest: Manifest, batch: Batch): number {
  const isKept = keptBy(manifest)
  let count = 0
  forEachRow(batch, (row) => {
    if (isKept(row)) count++
  })
  return count
}

/** The ids of the manifest's rows that ClickHouse doesn't hold. */
async function missingIds(options: LoadOptions, manifest: Manifest, batch: Batch): Promise<number[]> {
  const present = await presentIds(options, manifest, batch)
  const isKept = keptBy(manifest)
  const missing: number[] = []
  forEachRow(batch, (row) => {
    if (isKept(row) && !present.has(row.id)) missing.push(row.id)
  })
  return missing
}

async function presentIds(
  { stream, clickhouse, insertDeadlineMs }: LoadOptions,
  manifest: Manifest,
  batch: Batch,
): Promise<Set<number>> {
  const workspaces = [...new Set(manifest.keys.map(([workspace]) => workspace))]
  // By a loop: a manifest of many workspaces has more keys than a call may have arguments.
  let firstHour = Number.POSITIVE_INFINITY
  let lastHour = 0
  for (const [, hour] of manifest.keys) {
    firstHour = Math.min(firstHour, hour)
    lastHour = Math.max(lastHour, hour)
  }
  const rows = await clickhouse.query<{ id: number }>(
    `SELECT id FROM ${stream}
     WHERE workspace_id IN {workspaces:Array(UInt32)}
       AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}) AND occurred_at < fromUnixTimestamp64Milli({until:Int64})
       AND intDiv(id, ${segmentRowsMax}) IN {segments:Array(UInt64)}`,
    {
      workspaces,
      from: firstHour * hourMs,
      until: (lastHour + 1) * hourMs,
      segments: batch.segments.map((segment) => segment.number),
    },
    { deadlineMs: insertDeadlineMs },
  )
  return new Set(rows.map((row) => row.id))
}

/** Inserts the rows of `ids`, halving where ClickHouse refuses, down to the single rows that are set aside. */
async function insertMissing(
  options: LoadOptions,
  manifest: Manifest,
  batch: Batch,
  ids: readonly number[],
  token: string,
): Promise<void> {
  if (ids.length === 0) return
  const { stream, clickhouse, insertDeadlineMs } = options
  const wanted = new Set(ids)
  try {
    await clickhouse.insertRows({
      table: stream,
      columns: columnNamesOf(stream, batch),
      bytes: keptRuns(batch, (row) => wanted.has(row.id)),
      token,
      queryId: `${stream}-${manifest.id}/settle`,
      deadlineMs: insertDeadlineMs,
    })
  } catch (error) {
    if (!(error instanceof InsertRefused)) throw error
    if (ids.length === 1) {
      await setRowAside(options, batch, ids[0]!, error.message)
      return
    }
    // A refused insert may have stored a part of its rows.
    const missing = new Set(await missingIds(options, manifest, batch))
    const left = ids.filter((id) => missing.has(id))
    const half = Math.ceil(left.length / 2)
    await insertMissing(options, manifest, batch, left.slice(0, half), `${token}a`)
    await insertMissing(options, manifest, batch, left.slice(half), `${token}b`)
  }
}

async function setRowAside(options: LoadOptions, batch: Batch, id: number, reason: string): Promise<void> {
  let bytes: Buffer | undefined
  forEachRow(batch, (row) => {
    if (row.id === id) bytes = Buffer.from(row.group.rowBytes.subarray(row.start, row.end))
  })
  const { rowFormat } = batch.segments[0]!
  await options.setAside(`${options.stream}-row-${id}`, reason, bytes!, {
    rowFormat,
    row: describeRow(options.stream, rowFormat, bytes!),
  })
}

function describeRow(stream: StreamName, rowFormat: number, bytes: Buffer): unknown {
  try {
    const { row } = decodeRow(columnsOf(stream, rowFormat)!, bytes, 0)
    return Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
    )
  } catch (error) {
    return `can't be decoded: ${(error as Error).message}`
  }
}
