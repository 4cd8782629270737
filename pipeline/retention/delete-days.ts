/**
 * Deletes old rows of a ClickHouse table that is divided by UTC days. A day that is expired for everybody is dropped,
 * which costs nothing. A day that is expired for some has their rows deleted by a mutation, which rewrites that day
 * once. A lightweight delete would only hide them, and old days are hardly ever merged.
 *
 * Each step may be repeated: a day that is gone isn't found again.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { inPortions } from '../../runtime/lists.ts'
import type { ExpiryGroup } from './retention.ts'

/** Workspaces of one mutation: their ids stand in its text. */
const workspacesMax = 5_000
/** Mutations that wait at once: ClickHouse slows inserts down at 500. */
const mutationsMax = 20
const mutationPollMs = 100
const mutationDeadlineMs = 60 * 60_000
/** Counting reads old parts that no cache holds. */
const countDeadlineMs = 5 * 60_000

export interface DayDeleter {
  /** Drops the UTC days that lie before `before`, whosesoever rows they hold. Returns the number of rows. */
  dropDays(table: string, before: number): Promise<number>
  /** Deletes the rows of a group's workspaces before its time. Returns their number. */
  deleteOf(table: string, group: ExpiryGroup): Promise<number>
  /** Those of a group's workspaces that have rows before its time, in any of the tables. */
  listLosing(tables: readonly string[], group: ExpiryGroup): Promise<number[]>
}

export function makeDayDeleter(ch: ClickHouse, signal: AbortSignal): DayDeleter {
  async function deleteChunk(table: string, before: number, ids: readonly number[]): Promise<number> {
    const days = await ch.query<{ day: string; rows: number }>(
      `SELECT toString(toDate(occurred_at, 'UTC')) AS day, count() AS rows FROM {table:Identifier}
       WHERE workspace_id IN {ids:Array(UInt32)} AND occurred_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
       GROUP BY day ORDER BY day`,
      { table, ids, before },
      { deadlineMs: countDeadlineMs },
    )
    for (const [at, { day }] of days.entries()) {
      signal.throwIfAborted()
      await ch.command(
        `ALTER TABLE {table:Identifier} DELETE IN PARTITION {day:String}
         WHERE workspace_id IN {ids:Array(UInt32)} AND occurred_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
         SETTINGS mutations_sync = 0`,
        { table, day, ids, before },
      )
      if ((at + 1) % mutationsMax === 0) await mutationsDone(table)
    }
    await mutationsDone(table)
    return days.reduce((rows, day) => rows + day.rows, 0)
  }

  /** The mutation goes on in the server, even if this process ends. */
  async function mutationsDone(table: string): Promise<void> {
    const deadline = performance.now() + mutationDeadlineMs
    for (;;) {
      const [unfinished] = await ch.query<{ count: number; reason: string }>(
        `SELECT count() AS count, max(latest_fail_reason) AS reason FROM system.mutations
         WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done AND NOT is_killed`,
        { table },
      )
      if (unfinished!.count === 0) return
      if (performance.now() > deadline) throw new Error(`a deletion in ${table} doesn't end: ${unfinished!.reason}`)
      await delay(mutationPollMs, undefined, { signal })
    }
  }

  return {
    dropDays: async (table, before) => {
      const days = await ch.query<{ day: string; rows: number }>(
        `SELECT partition AS day, sum(rows) AS rows FROM system.parts
         WHERE database = currentDatabase() AND table = {table:String} AND active AND partition < {day:String}
         GROUP BY day ORDER BY day`,
        { table, day: new Date(before).toISOString().slice(0, 10) },
      )
      let rows = 0
      for (const found of days) {
        signal.throwIfAborted()
        await ch.command('ALTER TABLE {table:Identifier} DROP PARTITION {day:String}', { table, day: found.day })
        rows += found.rows
      }
      return rows
    },

    listLosing: async (tables, { before, workspaceIds }) => {
      const losing: number[] = []
      for (const ids of inPortions(workspaceIds, workspacesMax)) {
        const found = await ch.query<{ id: number }>(
          `SELECT DISTINCT workspace_id AS id FROM merge(currentDatabase(), {tables:String})
           WHERE workspace_id IN {ids:Array(UInt32)} AND occurred_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')`,
          { tables: `^(${tables.join('|')})$`, ids, before },
          { deadlineMs: countDeadlineMs },
        )
        losing.push(...found.map(({ id }) => id))
      }
      return losing
    },

    deleteOf: async (table, { before, workspaceIds }) => {
      // A mutation of an earlier, interrupted run would be waited for anyhow.
      await mutationsDone(table)
      let rows = 0
      for (const some of inPortions(workspaceIds, workspacesMax)) rows += await deleteChunk(table, before, some)
      return rows
    },
  }
}
