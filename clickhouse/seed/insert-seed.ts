/** Inserts made-up events, a few portions at a time, each by one INSERT … SELECT, and looks that all are there. */
import { forEachAtMost } from '../../runtime/for-each.ts'
import { idsPerLease, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { clickhouseInsertDeadlineMs } from '../../schemas/limits/store-limits.ts'
import type { ClickHouse } from '../client.ts'
import type { SeedRows } from './constants-sql.ts'
import { type Portion, planPortions } from './plan.ts'
import { makeStatement, makeStatementWithLinks, type SeedLink, selectBrowsers } from './rows-sql.ts'

/** Some of the events aren't there. */
export class SeedIncomplete extends Error {
  override name = 'SeedIncomplete'
}

/** An insert works on one core: as many as a small machine has. */
const insertsAtOnce = 2

const insertSettings = {
  // One thread, so that a repeat meets the rows in the same order.
  max_threads: 1,
  max_insert_threads: 1,
  // Twice as fast: nothing here is dear enough to be worth leaving out for some rows.
  short_circuit_function_evaluation: 'disable',
  max_block_size: 16_384,
  // The rows are in order of receipt by a subquery's ORDER BY, which nothing outside it asks for.
  query_plan_remove_redundant_sorting: 0,
  // Every insert is of ids of its own.
  insert_deduplicate: 0,
  // The statement has the vocabulary in it.
  max_query_size: 4_000_000,
  // One part for each day of an insert.
  min_insert_block_size_rows: 2_000_000,
  min_insert_block_size_bytes: 1_000_000_000,
}

interface KnownRows {
  /** The visitor of a browser as decimal text, as ingest has it: its people can be merged, credited and erased then. */
  readonly visitorOf: (anonymousId: string) => string
  /** At least one. */
  readonly links: readonly SeedLink[]
}

interface Inserting {
  /** For few events; without it visitors are made up as well, and nobody comes by a link. */
  readonly known?: KnownRows
  readonly signal?: AbortSignal
  /** Told after each insert. */
  inserted?(done: number, all: number): void
}

/**
 * @returns the last id of the lease, up to which all is stored then
 * @throws SeedIncomplete when it was aborted, or events are missing
 */
export async function insertSeed(
  ch: Pick<ClickHouse, 'query' | 'command'>,
  rows: SeedRows,
  { known, signal, inserted }: Inserting = {},
): Promise<number> {
  const portions = planPortions(rows)
  let done = 0
  const insert = async (portion: Portion) => {
    const options = { deadlineMs: clickhouseInsertDeadlineMs, settings: insertSettings }
    await ch.command(await statementOf(ch, rows, portion, known), {}, options)
    done++
    inserted?.(done, portions.length)
  }
  // After a failure no other insert is begun.
  const failed = new AbortController()
  const stopping = AbortSignal.any(signal === undefined ? [failed.signal] : [failed.signal, signal])
  await forEachAtMost(insertsAtOnce, portions, stopping, (portion) =>
    insert(portion).catch((error) => {
      failed.abort()
      throw error
    }),
  )
  if (signal?.aborted) throw new SeedIncomplete('interrupted: the workspaces made have a part of their events')
  const first = rows.lease * segmentRowsMax
  const end = first + idsPerLease
  const [row] = await ch.query<{ stored: number }>(
    'SELECT count() AS stored FROM events WHERE id >= {first:UInt64} AND id < {end:UInt64}',
    { first, end },
    { deadlineMs: clickhouseInsertDeadlineMs },
  )
  if (row!.stored !== rows.events)
    throw new SeedIncomplete(`${row!.stored} events are there in place of ${rows.events}`)
  return end - 1
}

async function statementOf(
  ch: Pick<ClickHouse, 'query'>,
  rows: SeedRows,
  portion: Portion,
  known: KnownRows | undefined,
): Promise<string> {
  if (known === undefined) return makeStatement(rows, portion)
  const browsers = await ch.query<{ visitor: string; anonymous_id: string }>(
    selectBrowsers(rows, portion),
    {},
    { deadlineMs: clickhouseInsertDeadlineMs, settings: insertSettings },
  )
  const visitors = new Map(browsers.map((one) => [one.visitor, known.visitorOf(one.anonymous_id)]))
  return makeStatementWithLinks(rows, portion, visitors, known.links)
}
