/**
 * chDB, the ClickHouse engine as a library, and the only place where it enters. It has a few sessions on one folder;
 * each runs one statement at a time, behind a queue of bounded length.
 *
 * A session keeps its settings, parameters and database from one statement to the next. So each statement comes with
 * its own settings, and further ones of the statement before are put back to their defaults. A parameter has no
 * default: a statement that names one without a value is refused. And a statement that fails in the middle leaves the
 * answer's beginning, which would stand before the next answer: such a session is replaced.
 */
import { availableParallelism } from 'node:os'
import { Session } from 'chdb'
import { EngineError, tooManyQueries } from './engine-error.ts'
import { textBytesMax } from './request.ts'

const querySessions = 6
/** Inserts have sessions of their own, so that slow questions don't keep events from being stored. */
const insertSessions = 2
/**
 * Merges can wait longest, loading (insert-rows.ts) less long: both are nicer than answers, where this process may say
 * so (CAP_SYS_NICE). On less than four cores merges have one thread in place of chDB's two, with the same number of
 * merges in turn. So an answer finds a core free though parts of a whole day are merged (decisions/0016).
 */
const mergeThreads = availableParallelism() < 4 ? 1 : 2
const mergesAtOnce = 4
const mergeNice = 15
const connectionArgs = [
  `--os_threads_nice_value_merge_mutate=${mergeNice}`,
  `--background_pool_size=${mergeThreads}`,
  `--background_merges_mutations_concurrency_ratio=${mergesAtOnce / mergeThreads}`,
]
/**
 * For sessions, not for merges. A statement reads and writes out its rows on its own thread: handing data over costs a
 * quarter of a short statement. Compiling an expression takes 30 ms, so callers with very many rows opt in. A statement's parameters are
 * set by a statement before it, which may be as long as a body.
 */
const ofSessions = `SET local_filesystem_read_method = 'pread', output_format_parallel_formatting = 0,
  max_query_size = ${textBytesMax}, compile_expressions = 0, compile_aggregate_expressions = 0, compile_sort_description = 0`
/** Statements that wait; further ones are refused. */
const queueMax = 200

interface Statement {
  sql: string
  format: string
  database: string
  settings: ReadonlyMap<string, string>
  /** Values of `{name:Type}`, in the escaped form of ClickHouse's HTTP interface. */
  params: ReadonlyMap<string, string>
  /** It loads rows, or prepares to. */
  isInsert: boolean
  /** Asked when its turn comes: false and it isn't run at all. */
  isWanted: () => boolean
}

export interface Answer {
  bytes: Uint8Array
  rowsRead: number
  bytesRead: number
  elapsedNs: number
}

interface Seat {
  readonly folder: string
  session: Session
  database: string
  /** Names of settings that aren't at their default. */
  dirty: Set<string>
  /** Names of parameters that were ever set: nothing unsets one. */
  params: Set<string>
}

export interface Engine {
  /** @throws EngineError with ClickHouse's code and text */
  run(statement: Statement): Promise<Answer>
  /** Waits for running statements, then closes the sessions. */
  close(): Promise<void>
}

/** @throws when another process has the folder */
export function openEngine(folder: string): Engine {
  const queries = makeLane(folder, querySessions)
  const inserts = makeLane(folder, insertSessions)
  return {
    run: (statement) => (statement.isInsert ? inserts : queries).run(statement),
    close: async () => {
      await Promise.all([queries.close(), inserts.close()])
    },
  }
}

/** Sessions that take turns at one queue. */
function makeLane(folder: string, size: number): Engine {
  const seats = Array.from({ length: size }, (): Seat => ({ folder, ...openSession(folder) }))
  const free = [...seats]
  const waiting: ((seat: Seat) => void)[] = []

  function takeSeat(): Promise<Seat> {
    const seat = free.pop()
    if (seat) return Promise.resolve(seat)
    if (waiting.length >= queueMax) throw tooManyQueries(size + queueMax)
    return new Promise((resolve) => waiting.push(resolve))
  }

  function giveBack(seat: Seat): void {
    const next = waiting.shift()
    if (next) next(seat)
    else free.push(seat)
  }

  return {
    run: async (statement) => {
      const seat = await takeSeat()
      try {
        if (!statement.isWanted()) throw new EngineError(394, 'Query was cancelled', 'QUERY_WAS_CANCELLED')
        return await runOn(seat, statement)
      } finally {
        giveBack(seat)
      }
    },
    close: async () => {
      // Every seat is taken in turn, so nothing runs any more when the last is here.
      for (const _ of seats) await takeSeat()
      for (const { session } of seats) session.close()
    },
  }
}

async function runOn(seat: Seat, { sql, format, database, settings, params }: Statement): Promise<Answer> {
  refuseLeftParams(seat, sql, params)
  for (const name of params.keys()) seat.params.add(name)
  const before: string[] = []
  if (seat.database !== database) before.push(`USE ${quoteName(database)}`)
  const set = [
    ...[...seat.dirty].filter((name) => !settings.has(name)).map((name) => `${name} = DEFAULT`),
    ...[...settings].map(([name, value]) => `${quoteName(name)} = ${quoteText(value)}`),
    ...[...params].map(([name, value]) => `${quoteName(`param_${name}`)} = ${quoteText(value)}`),
  ]
  if (set.length > 0) before.push(`SET ${set.join(', ')}`)
  try {
    const result = await seat.session.queryAsync([...before, sql].join(';\n'), { format })
    seat.dirty = new Set(settings.keys())
    seat.database = database
    return {
      bytes: result.bytes(),
      rowsRead: result.rowsRead,
      bytesRead: result.bytesRead,
      elapsedNs: Math.round(result.elapsed * 1e9),
    }
  } catch (error) {
    const left = seat.session
    try {
      // About a millisecond.
      Object.assign(seat, openSession(seat.folder))
    } catch {
      // Its answers would begin with the remains: the supervisor starts this process again.
      process.kill(process.pid, 'SIGKILL')
    }
    left.close()
    throw EngineError.of(error)
  }
}

function openSession(folder: string): Omit<Seat, 'folder'> {
  const session = new Session(folder, { connectionArgs })
  session.query(ofSessions)
  return { session, database: 'default', dirty: new Set(), params: new Set() }
}

/** @throws EngineError where the statement names a parameter that only an earlier one was given: it could be another workspace's */
function refuseLeftParams(seat: Seat, sql: string, params: Statement['params']): void {
  for (const [, name] of sql.matchAll(/\{\s*(\w+)\s*:/g)) {
    if (params.has(name!) || !seat.params.has(name!)) continue
    throw new EngineError(456, `Substitution \`${name}\` is not set`, 'UNKNOWN_QUERY_PARAMETER')
  }
}

function quoteName(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
}

export function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
