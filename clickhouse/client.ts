/**
 * The ClickHouse client, the only importer of `@clickhouse/client`. It works the same against a server and the embedded
 * engine. Every call has a deadline. Errors that aren't the statement's own fault become StoreUnavailable.
 */
import { Readable } from 'node:stream'
import {
  type ClickHouseClientConfigOptions,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
} from '@clickhouse/client'
import { backoffMs, sleep } from '../runtime/retry.ts'
import { isNetworkError, StoreUnavailable } from '../runtime/store-error.ts'
import {
  clickhousePulseEveryMs,
  clickhouseQueryDeadlineMs,
  clickhouseQueryMemoryMax,
} from '../schemas/limits/store-limits.ts'
import { type Pulse, startDeadline } from './deadline.ts'
import { dataErrorCodes, isServersFault, thrownByCondition } from './error-codes.ts'
import { type Insert, InsertFenced, InsertRefused, insertStatement } from './insert.ts'
import { divideLongLists } from './long-lists.ts'
import type { QueryOptions } from './query-options.ts'

export interface ClickHouse {
  /** Rows as objects. Parameters are `{name:Type}` in the SQL. 64-bit integers come as numbers: `toString()` hashes. */
  query<Row>(sql: string, params?: Record<string, unknown>, options?: QueryOptions): Promise<Row[]>
  /** Rows as lists of their columns, some at a time, for results that needn't be held whole. The deadline is for all of them. */
  batches<Row>(sql: string, params?: Record<string, unknown>, options?: QueryOptions): AsyncGenerator<Row[]>
  /** A statement without rows: DDL, a deletion. */
  command(sql: string, params?: Record<string, unknown>, options?: QueryOptions): Promise<void>
  /**
   * Resolves only when all rows are stored, or had been under this token.
   * @throws InsertRefused when ClickHouse can't read the rows
   * @throws InsertFenced when its fence holds: nothing is stored, and never will be
   * @throws StoreUnavailable when the outcome is unknown
   */
  insertRows(insert: Insert): Promise<void>
  /** After it resolves, the insert of that id no longer runs. It doesn't say whether the rows were stored. */
  killInsert(queryId: string): Promise<void>
  /** The same of all inserts into this database whose ids begin so. */
  killInserts(idsPrefix: string): Promise<void>
  /** Makes the database of the URL when it isn't there yet. */
  createDatabase(): Promise<void>
  ping(): Promise<boolean>
  close(): Promise<void>
}

const socketsMax = 16
/** Below the server's keep-alive (10 s): a socket that it is about to close isn't used. */
const idleSocketMs = 2_500
/** Beyond the server's own deadline, before the client gives up on the connection. */
const graceMs = 1_000
/** Lists of ids and hours stand in a statement's parameters. */
const statementBytesMax = 16 * 1024 * 1024
/** Longer parameters don't fit the URL, into which the client puts those of a command. */
const urlParamsLengthMax = 4_000
const fitUrl = (params: Record<string, unknown>) =>
  JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? String(value) : value)).length <= urlParamsLengthMax
/** One block however many the rows, so that a token stands for all of an insert's rows in a partition. */
const insertBlockRows = 10_000_000

/** @param pulseEveryMs how often the server is asked whether it still answers, while a statement of minutes is waited for */
export function connectClickHouse(url: string, pulseEveryMs = clickhousePulseEveryMs): ClickHouse {
  const { origin, username, password, pathname, searchParams } = new URL(url)
  const database = decodeURIComponent(pathname.slice(1)) || 'default'
  const config: ClickHouseClientConfigOptions = {
    url: origin,
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
    database,
    application: 'svc',
    max_open_connections: socketsMax,
    // None: our own deadline ends every request, and a socket's would cut before it those that take minutes to answer.
    request_timeout: 0,
    keep_alive: { enabled: true, idle_socket_ttl: idleSocketMs, eagerly_destroy_stale_sockets: true },
    clickhouse_settings: Object.fromEntries(searchParams),
    use_multipart_params_auto: true,
    log: { level: ClickHouseLogLevel.OFF },
  }
  const client = createClient(config)
  // A client of its own: statements may hold all sockets of the other.
  const pulseClient = createClient(config)
  const pulse: Pulse = { everyMs: pulseEveryMs, isAlive: () => ping(pulseClient, 2 * pulseEveryMs) }

  async function query<Row>(
    sql: string,
    params: Record<string, unknown> = {},
    { deadlineMs = clickhouseQueryDeadlineMs, settings, isLong }: QueryOptions = {},
  ): Promise<Row[]> {
    const ask = (abort_signal: AbortSignal) =>
      retryStale(async () => {
        const clickhouse_settings = { ...bounded(deadlineMs), ...settings }
        const statement = { ...sent(sql, params), abort_signal, clickhouse_settings }
        const result = await client.query({ ...statement, format: isLong ? 'JSONColumnsWithMetadata' : 'JSONEachRow' })
        return isLong
          ? rowsOf<Row>((await result.json<unknown>()) as unknown as InColumns)
          : ((await result.json<Row>()) as Row[])
      })
    return within(deadlineMs + graceMs, ask, deadlineMs, pulse)
  }

  async function* batches<Row>(
    sql: string,
    params: Record<string, unknown> = {},
    { deadlineMs = clickhouseQueryDeadlineMs, settings }: QueryOptions = {},
  ): AsyncGenerator<Row[]> {
    const deadline = startDeadline(deadlineMs + graceMs, deadlineMs, pulse)
    try {
      const clickhouse_settings = { ...bounded(deadlineMs), ...settings }
      const statement = { ...sent(sql, params), abort_signal: deadline.signal, clickhouse_settings }
      const result = await retryStale(() => client.query({ ...statement, format: 'JSONCompactEachRow' }))
      for await (const rows of result.stream<Row>()) yield rows.map((row) => row.json<Row>() as Row)
    } catch (error) {
      throw deadline.failureOf(error) ?? toStoreError(error)
    } finally {
      deadline.end()
    }
  }

  async function kill(which: string, id: string): Promise<void> {
    const deadline = performance.now() + clickhouseQueryDeadlineMs
    for (let attempt = 0; ; attempt++) {
      await query(`KILL QUERY WHERE ${which} SYNC`, { id })
      const running = await query(`SELECT 1 FROM system.processes WHERE ${which}`, { id })
      if (running.length === 0) return
      if (performance.now() > deadline) throw new StoreUnavailable('clickhouse', `insert ${id} doesn't end`)
      await sleep(backoffMs(attempt, 50, 1_000))
    }
  }

  return {
    query,
    batches,

    command: (sql, params = {}, { deadlineMs = clickhouseQueryDeadlineMs, settings } = {}) => {
      const run = async (abort_signal: AbortSignal) => {
        const clickhouse_settings = { ...bounded(deadlineMs), ...settings }
        const statement = { ...sent(sql, params), abort_signal, clickhouse_settings }
        if (fitUrl(params)) await client.command(statement)
        else await (await client.query({ ...statement, format: 'JSONEachRow' })).text()
      }
      return within(deadlineMs + graceMs, run, deadlineMs, pulse)
    },

    insertRows: (insert) =>
      within(insert.deadlineMs, async (abort_signal) => {
        try {
          const { stream } = await client.exec({
            query: insertStatement(insert),
            values: Readable.from(insert.bytes, { objectMode: false }),
            query_id: insert.queryId,
            abort_signal,
            clickhouse_settings: {
              insert_deduplication_token: insert.token,
              async_insert: 0,
              max_insert_block_size: String(insertBlockRows),
              min_insert_block_size_rows: String(insertBlockRows),
              min_insert_block_size_bytes: '0',
              input_format_parallel_parsing: 0,
              // An import spans more days than the default of a hundred.
              max_partitions_per_insert_block: '0',
              wait_end_of_query: 1,
            },
          })
          // The answer's end is the success: a connection cut before it is an unknown outcome.
          for await (const _ of stream);
        } catch (error) {
          if (insert.fence && error instanceof ClickHouseError && Number(error.code) === thrownByCondition) {
            throw new InsertFenced(error.message, { cause: error })
          }
          if (error instanceof ClickHouseError && dataErrorCodes.has(Number(error.code))) {
            throw new InsertRefused(`${error.type ?? error.code}: ${error.message}`, { cause: error })
          }
          // By any other error, a missing table included, the rows are good and stay where they are.
          throw new StoreUnavailable('clickhouse', (error as Error).message, { cause: error })
        }
      }),

    killInsert: (queryId) => kill('query_id = {id:String}', queryId),

    killInserts: (idsPrefix) =>
      kill('startsWith(query_id, {id:String}) AND current_database = currentDatabase()', idsPrefix),

    createDatabase: () =>
      within(clickhouseQueryDeadlineMs, async (abort_signal) => {
        // Not through the client: a server refuses every request for a database that isn't there.
        const outside = createClient({ ...config, database: 'default' })
        try {
          // Looks first, because `IF NOT EXISTS` needs the right to create databases, and users of managed servers may lack it.
          const found = await outside.query({
            query: 'SELECT 1 FROM system.databases WHERE name = {database:String}',
            query_params: { database },
            format: 'JSONEachRow',
            abort_signal,
          })
          if ((await found.json()).length > 0) return
          await outside.command({
            query: `CREATE DATABASE IF NOT EXISTS \`${database.replaceAll('`', '')}\``,
            abort_signal,
          })
        } finally {
          await outside.close()
        }
      }),

    ping: () => ping(client, graceMs * 2),

    close: async () => {
      await pulseClient.close()
      await client.close()
    },
  }
}

/** As the client takes a statement. */
function sent(sql: string, params: Record<string, unknown>) {
  const divided = divideLongLists({ sql, params })
  return { query: divided.sql, query_params: divided.params }
}

function ping(client: ReturnType<typeof createClient>, deadlineMs: number): Promise<boolean> {
  return within(deadlineMs, (abort_signal) => client.ping({ abort_signal, select: false })).then(
    ({ success }) => success,
    () => false,
  )
}

/** Runs `work` under a deadline as of `startDeadline`. */
async function within<T>(
  deadlineMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  serversMs = deadlineMs,
  pulse?: Pulse,
): Promise<T> {
  const deadline = startDeadline(deadlineMs, serversMs, pulse)
  try {
    return await work(deadline.signal)
  } catch (error) {
    throw deadline.failureOf(error) ?? toStoreError(error)
  } finally {
    deadline.end()
  }
}

function bounded(deadlineMs: number): Record<string, string | number> {
  return {
    max_execution_time: deadlineMs / 1000,
    max_memory_usage: clickhouseQueryMemoryMax,
    max_query_size: statementBytesMax,
    // An index that skips rows is for statements without FINAL: with it ClickHouse would look for other versions of them.
    use_skip_indexes_if_final: 0,
    // The answer begins when the query has succeeded, so that a failure is never half an answer.
    wait_end_of_query: 1,
    output_format_json_quote_64bit_integers: 0,
  }
}

interface InColumns {
  readonly rows: number
  readonly data: Readonly<Record<string, readonly unknown[]>>
}

function rowsOf<Row>({ rows, data }: InColumns): Row[] {
  const columns = Object.entries(data)
  return Array.from({ length: rows }, (_, at) => {
    const row: Record<string, unknown> = {}
    for (const [name, values] of columns) row[name] = values[at]
    return row as Row
  })
}

/** A socket that the server closed while it lay idle fails at once, before the query was taken: once more on another. */
async function retryStale<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up') return work()
    throw error
  }
}

/** Bodies of 502, 503 and 504 from nginx, Caddy and cloud load balancers; some are empty. The client reports only the body. */
const balancerPage = /^\s*$|bad gateway|gateway time-?out|service (temporarily )?unavailable|no healthy upstream/i

function toStoreError(error: unknown): unknown {
  if (error instanceof InsertRefused || error instanceof StoreUnavailable) return error
  const { message } = error as Error
  if (error instanceof ClickHouseError) {
    return isServersFault(Number(error.code))
      ? new StoreUnavailable('clickhouse', `${error.type ?? error.code}: ${message}`, { cause: error })
      : error
  }
  // Other errors come from the connection, or from a balancer before ClickHouse.
  const isUnavailable =
    isNetworkError(error) || /timeout|aborted|socket|HTTP|closed|cut short/i.test(message) || balancerPage.test(message)
  const text = message || (error as NodeJS.ErrnoException).code || 'an answer without a text'
  return isUnavailable ? new StoreUnavailable('clickhouse', text, { cause: error }) : error
}
