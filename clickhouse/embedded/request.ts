/** Reads a request of ClickHouse's HTTP interface: the statement, its settings, and the rows to load, if any. */
import type { IncomingMessage } from 'node:http'
import { clickhouseFieldBytesMax } from '../../schemas/limits/store-limits.ts'
import { bodyTooLarge, EngineError, fieldTooLong } from './engine-error.ts'

/** Bodies that are a query's text. Rows to load go to a file instead and may be longer. */
export const textBytesMax = 64 * 2 ** 20

export interface Query {
  sql: string
  queryId: string
  database: string
  defaultFormat: string
  settings: Map<string, string>
  params: Map<string, string>
}

/**
 * `INSERT INTO table (columns) FORMAT name`, whose rows are the request's body; or only those for which
 * the condition holds, by `SELECT * FROM input('structure') WHERE condition`.
 */
export interface RowsInsert {
  table: string
  /** Empty: all of the table's, in its order. */
  columns: string[]
  format: string
  /** The condition, in SQL. */
  where?: string
}

/** Members of the URL that are no settings of the engine. How long a statement may be is said by the bound of bodies. */
const ownMembers = new Set([
  'max_query_size',
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'role',
  'quota_key',
  'compress',
  'decompress',
  'buffer_size',
  'wait_end_of_query',
  'stacktrace',
  'enable_http_compression',
])

/** Reads the URL and the headers; `sql` is still without the body. */
export function readHead(request: IncomingMessage): Query {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const header = (name: string) => (request.headers[name] as string | undefined) || undefined
  const settings = new Map<string, string>()
  const params = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value)
    else if (!ownMembers.has(name)) settings.set(name, value)
  }
  return {
    sql: url.searchParams.get('query') ?? '',
    queryId: url.searchParams.get('query_id') ?? '',
    // A URL that names its database by a path works here as it does for the client.
    database:
      url.searchParams.get('database') ||
      header('x-clickhouse-database') ||
      url.pathname.replaceAll('/', '') ||
      'default',
    defaultFormat: url.searchParams.get('default_format') || header('x-clickhouse-format') || 'TabSeparated',
    settings,
    params,
  }
}

const rowsInsert =
  /^\s*INSERT\s+INTO\s+(?:TABLE\s+)?([\w.`]+)\s*(?:\(([^()]*)\))?\s*(?:\/\*[^*]*\*\/)?\s*(?:SELECT\s+\*\s+FROM\s+input\('(?:[^'\\]|\\.)*'\)\s*WHERE\s+(.+?)\s+)?FORMAT\s+(\w+)\s*;?\s*$/is

/** The insert whose rows are the body, when the URL's query is one. */
export function asRowsInsert(sql: string): RowsInsert | undefined {
  const match = rowsInsert.exec(sql)
  if (!match || /^values$/i.test(match[4]!)) return undefined
  const columns = match[2]?.split(',').map((name) => name.trim().replaceAll('`', '')) ?? []
  return { table: match[1]!, columns, format: match[4]!, ...(match[3] !== undefined && { where: match[3] }) }
}

/** Completes the query with a body of text: the query itself, its rest, or a form with parameters. */
export async function readText(request: IncomingMessage, query: Query): Promise<void> {
  const body = await readBody(request)
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) {
    const text = body.toString('utf8')
    query.sql = query.sql && text ? `${query.sql}\n${text}` : query.sql || text
    return
  }
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  for (const [name, value] of form) {
    if (Buffer.byteLength(String(value)) > clickhouseFieldBytesMax) throw fieldTooLong()
    if (name === 'query') query.sql = `${query.sql}${value}`
    else if (name.startsWith('param_')) query.params.set(name.slice('param_'.length), String(value))
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of request) {
    length += piece.length
    if (length > textBytesMax) throw bodyTooLarge(textBytesMax)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Whether the statement surely leaves the tables as they are, but for their rows. */
export function leavesTables(sql: string): boolean {
  return /^\s*(?:SELECT|WITH|INSERT|DESCRIBE|SHOW|EXPLAIN)\b/i.test(sql)
}

/** The format of the answer: the query's own FORMAT, else the request's default. */
export function answerFormat(sql: string, defaultFormat: string): string {
  return /\bFORMAT\s+(\w+)\s*(?:SETTINGS\s[^;]*)?;?\s*$/i.exec(sql)?.[1] ?? defaultFormat
}

/** Which inserts `KILL QUERY WHERE …` is to end: the one of an id, or those of this database whose ids begin so. */
export interface KilledInserts {
  readonly queryId: string
  /** Undefined: `queryId` is the whole id, of whichever database. */
  readonly ofDatabase?: string
}

const kill = /^\s*KILL\s+QUERY\s+WHERE\s+(?:query_id\s*=\s*|(startsWith)\(query_id,\s*)(?:'([^']*)'|\{(\w+):String\})/i

export function killedInserts({ sql, params, database }: Query): KilledInserts | undefined {
  const match = kill.exec(sql)
  if (!match) return undefined
  const queryId = match[2] ?? params.get(match[3]!)
  if (queryId !== undefined) return match[1] === undefined ? { queryId } : { queryId, ofDatabase: database }
  throw new EngineError(456, `Substitution \`${match[3]}\` is not set`, 'UNKNOWN_QUERY_PARAMETER')
}
