/**
 * The Postgres client. Besides, only held-lock.ts and listen.ts import `pg`, for connections of their own. Every call
 * has a deadline, on the server (statement_timeout) and a little later here, in case the server hangs; then the
 * connection is thrown away. Errors that aren't the statement's own fault become StoreUnavailable, so that callers need
 * to know no driver texts.
 */
import pg from 'pg'
import { isNetworkError, StoreUnavailable } from '../runtime/store-error.ts'
import { postgresDeadlineMs } from '../schemas/limits/store-limits.ts'
import { type HeldLock, makeHeldLock } from './held-lock.ts'
import { startListener } from './listen.ts'

export interface QueryOptions {
  /** In place of the usual deadline, for a migration or a sweep. */
  deadlineMs?: number
}

/**
 * Anything that takes queries: the pool or one transaction. `int8` comes as a number, `date` as text, `timestamptz` as
 * a Date.
 */
export interface Queryable {
  query<Row = Record<string, unknown>>(sql: string, params?: unknown[], options?: QueryOptions): Promise<Row[]>
}

export interface Postgres extends Queryable {
  /** Commits what `work` did, or rolls all of it back when it throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>
  /**
   * Listens on a connection of its own, which is made anew with backoff when it breaks. `onReconnect` is called each time
   * that it listens, the first included: what was notified before is lost, so read the table then.
   */
  listen(channel: string, onNotify: (payload: string) => void, onReconnect: () => void): { close(): Promise<void> }
  /** A lock of this name for work longer than a transaction; nothing is held yet. */
  heldLock(name: string): HeldLock
  ping(): Promise<boolean>
  close(): Promise<void>
}

export interface PostgresOptions {
  /** Connections. */
  max?: number
  /** Deadline for a statement, and for getting a connection to send it. */
  deadlineMs?: number
}

/** Beyond the server's own deadline, before the client gives up on the connection. */
const graceMs = 500
const idleInTransactionMs = 30_000
/** So often the server looks, in the middle of a statement, whether who sent it is still there: a dead one's locks are free then. */
const peerCheckMs = 1_000
const connectionsMax = 10

export function connectPostgres(url: string, options: PostgresOptions = {}): Postgres {
  const usualMs = options.deadlineMs ?? postgresDeadlineMs
  const config: pg.PoolConfig = {
    connectionString: url,
    max: options.max ?? connectionsMax,
    application_name: 'svc',
    connectionTimeoutMillis: usualMs,
    statement_timeout: usualMs,
    query_timeout: usualMs + graceMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    options: `-c client_connection_check_interval=${peerCheckMs}`,
    keepAlive: true,
    types: { getTypeParser },
  }
  const ask = makeAsk(usualMs)
  const pool = new pg.Pool(config)
  // An idle connection that breaks (a restart of the server) is replaced by the pool; without a listener it would throw.
  pool.on('error', () => {})

  async function withConnection<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error) => {
      throw toStoreError(error)
    })
    // A connection that breaks while it is ours says so twice: by the query's own failure, and by this event.
    const ignore = () => {}
    client.on('error', ignore)
    let broken = true
    try {
      const result = await work(client)
      broken = false
      return result
    } catch (error) {
      broken = error instanceof StoreUnavailable
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  return {
    query: (sql, params, options) => withConnection((client) => ask(client, sql, params, options)),

    transaction: (work) =>
      withConnection(async (client) => {
        await ask(client, 'BEGIN')
        try {
          const result = await work({ query: (sql, params, options) => ask(client, sql, params, options) })
          await ask(client, 'COMMIT')
          return result
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) await ask(client, 'ROLLBACK')
          throw error
        }
      }),

    listen: (channel, onNotify, onReconnect) =>
      startListener({ ...config, statement_timeout: 0 }, channel, onNotify, onReconnect),

    heldLock: (name) => makeHeldLock(config, name),

    ping: () =>
      withConnection((client) => ask(client, 'SELECT 1')).then(
        () => true,
        () => false,
      ),

    close: () => pool.end(),
  }
}

/** @param usualMs the deadline of a statement that has none of its own */
function makeAsk(usualMs: number) {
  return async function ask<Row>(
    client: pg.PoolClient,
    sql: string,
    params: unknown[] = [],
    { deadlineMs }: QueryOptions = {},
  ): Promise<Row[]> {
    // Not a prepared parameter: SET takes none. The number is ours.
    const setDeadline = (ms: number) => client.query(`SET statement_timeout = ${Math.ceil(ms)}`)
    try {
      if (deadlineMs !== undefined) await setDeadline(deadlineMs)
      const result = await client.query({
        text: sql,
        // Without parameters the simple protocol is used, which takes several statements at once.
        ...(params.length > 0 && { values: params }),
        query_timeout: (deadlineMs ?? usualMs) + graceMs,
      } as pg.QueryConfig)
      if (deadlineMs !== undefined) await setDeadline(usualMs)
      return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) as Row[]
    } catch (error) {
      const known = toStoreError(error)
      // The connection of a store that is away is thrown away.
      if (deadlineMs !== undefined && !(known instanceof StoreUnavailable)) await setDeadline(usualMs).catch(() => {})
      throw known
    }
  }
}

/**
 * SQLSTATEs with which a server says that it can't now: shutting down, starting, too many connections, too late. It also
 * ends one of two transactions that wait for each other (40P01), which can be made again. We start no read-only
 * transactions. So 25006 means that the server became a standby, or that its provider made it read-only, as for a full disk.
 */
const unavailableStates = /^(08...|57P0[1-5]|57014|53...|58...|25006|25P03|40003|40P01)$/
const driverTexts =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|connection error and is not queryable|Client was closed|after calling end/

function toStoreError(error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string }
  const isUnavailable = isNetworkError(error) || unavailableStates.test(code ?? '') || driverTexts.test(message)
  return isUnavailable ? new StoreUnavailable('postgres', message || String(code), { cause: error }) : error
}

/** The server can't take these values: bad data, a broken constraint, or beyond a limit of its own. A repeat changes nothing. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)...$/.test((error as { code?: string }).code ?? '')
}

/** Another row has the same value of a unique column. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: string }).code === '23505'
}

/** A lock wasn't free within the transaction's `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: string }).code === '55P03'
}

/** The server ended a statement that took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return isUnavailableBy(error, '57014')
}

/** The server is there, and takes no connection yet: after a crash it reads its log. */
export function isStarting(error: unknown): boolean {
  return isUnavailableBy(error, '57P03')
}

function isUnavailableBy(error: unknown, state: string): boolean {
  return error instanceof StoreUnavailable && (error.cause as { code?: string } | undefined)?.code === state
}

const int8 = 20
const date = 1082

function getTypeParser(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (type === int8) return safeInteger
  // A Date would be midnight of the machine's own zone.
  if (type === date) return (text) => text
  return pg.types.getTypeParser(type, format as 'text') as (text: string) => unknown
}

function safeInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`${text} doesn't fit a JavaScript number`)
  return number
}
