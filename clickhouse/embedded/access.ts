/**
 * Who may ask, and for what. The port is on 127.0.0.1, which every user of the machine reaches, and every page in its
 * browsers. So there is a password, and requests that a browser sends for a page are refused.
 *
 * The engine has the rights of this process: its table functions and engines read and write any file, and speak to the
 * network. Only this server's own statements use them; others that name one are refused. That is a second fence, found
 * by reading the text: whoever gets this far has the password. Held by test/integration/embedded-clickhouse.test.ts.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { EngineError } from './engine-error.ts'
import type { Query } from './request.ts'

/** @throws EngineError unless the request has the password and comes from no page */
export function requireAccess({ headers, url }: IncomingMessage, password: string): void {
  if (headers.origin !== undefined) throw new EngineError(497, 'Pages have no access', 'ACCESS_DENIED')
  const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ')
  const basic = Buffer.from(credentials, 'base64').toString('utf8')
  const given =
    (scheme?.toLowerCase() === 'basic' ? basic.slice(basic.indexOf(':') + 1) : undefined) ??
    headers['x-clickhouse-key'] ??
    new URL(url ?? '/', 'http://localhost').searchParams.get('password') ??
    ''
  if (!timingSafeEqual(digestOf(String(given)), digestOf(password))) {
    throw new EngineError(516, 'Authentication failed: password is incorrect', 'AUTHENTICATION_FAILED')
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Table functions, engines and sources of dictionaries that reach beyond the tables: begin with … */
const families = [
  'azure',
  'cosn',
  'deltalake',
  'file',
  'gcs',
  'hdfs',
  'hudi',
  'iceberg',
  'jdbc',
  'odbc',
  'oss',
  'paimon',
]
/** … or are these. */
const others = [
  'arrowflight',
  'arrowstream',
  'backup',
  'cassandra',
  'catboostevaluate',
  'clickhouse',
  'cluster',
  'clusterallreplicas',
  'datalakecatalog',
  'disk',
  'distributed',
  'embeddedrocksdb',
  'eval',
  'executable',
  'executablepool',
  'http',
  'kafka',
  'keepermap',
  'library',
  'materializedpostgresql',
  'mongodb',
  'mysql',
  'nats',
  'postgresql',
  'python',
  'rabbitmq',
  'redis',
  'remote',
  'remotesecure',
  's3\\w*',
  'sqlite',
  'url',
  'urlcluster',
  'ytsaurus',
]
const outside = new RegExp(
  `\\b(?:(?:(?:${families.join('|')})\\w*|${others.join('|')})\\s*\\(|INTO\\s+OUTFILE\\b|FROM\\s+INFILE\\b)`,
  'i',
)
/** The engine takes a name that is a path for a file, and a text in a table's place for a name. */
const pathAsTable = /\b(?:FROM|JOIN|INTO|TABLE|DESCRIBE|DESC|DEFAULT\s*\.)\s*\(?\s*''/i
/** Texts in all their ways of quoting, quoted names, comments. */
const opaque =
  /('(?:[^'\\]|\\[\s\S]|'')*'|‘[^’]*’|\$(\w*)\$[\s\S]*?\$\2\$)|(`(?:[^`\\]|\\[\s\S]|``)*`|"(?:[^"\\]|\\[\s\S]|"")*"|“[^”]*”)|--[^\n]*|#[! ][^\n]*|\/\*[\s\S]*?\*\//g

/** @throws EngineError when the statement names a function or engine that reads or writes beyond the tables */
export function refuseOutside({ sql, params }: Pick<Query, 'sql' | 'params'>): void {
  let hasPath = /\{\s*\w+\s*:\s*Identifier\s*\}/i.test(sql) && [...params.values()].some(isPath)
  const plain = sql.replace(opaque, (_, text?: string, _tag?: string, name?: string) => {
    if (text !== undefined) return "''"
    if (name === undefined) return ' '
    hasPath ||= isPath(name)
    return name.slice(1, -1)
  })
  const found = outside.exec(plain)?.[0] ?? (hasPath || pathAsTable.test(plain) ? 'a path' : undefined)
  if (found === undefined) return
  throw new EngineError(497, `Not here: ${found.replace(/\s*\($/, '')} reaches beyond the tables`, 'ACCESS_DENIED')
}

function isPath(name: string): boolean {
  return /[./]/.test(name)
}
