/**
 * Serves ClickHouse's HTTP interface out of this process, for development, tests and small installations. It starts as
 * `node embedded-server.js FOLDER [PORT]`, on 127.0.0.1 only, with the password that FOLDER/password holds. Requests of
 * `@clickhouse/client` are answered as a server would; held by test/integration/embedded-clickhouse.test.ts.
 *
 * The engine can't stop a running statement. So KILL QUERY answers once the insert has ended. If that takes too long,
 * this process exits, which ends the insert too, and its supervisor starts it again (held by
 * test/crash/kill-inserting.test.ts).
 */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { letHeapGrow } from '../runtime/heap.ts'
import { makeLog } from '../runtime/log.ts'
import { sleep } from '../runtime/retry.ts'
import { makeShutdown } from '../runtime/shutdown.ts'
import { refuseOutside, requireAccess } from './embedded/access.ts'
import { type Answer, openEngine } from './embedded/engine.ts'
import { EngineError } from './embedded/engine-error.ts'
import { makeInFlight } from './embedded/in-flight.ts'
import { makeRowsLoader } from './embedded/insert-rows.ts'
import {
  answerFormat,
  asRowsInsert,
  killedInserts,
  leavesTables,
  type Query,
  readHead,
  readText,
} from './embedded/request.ts'

const [folder, port = '0'] = process.argv.slice(2)
if (!folder) throw new Error('usage: embedded-server.js FOLDER [PORT]')

letHeapGrow()

const lastAnswersMs = 500
const log = makeLog('clickhouse', 'info')
const password = readFileSync(join(folder, 'password'), 'utf8').trim()
if (password === '') throw new Error(`${folder}/password is empty`)
const incoming = join(folder, 'incoming')
mkdirSync(incoming, { recursive: true, mode: 0o700 })

const engine = openOrExit(join(folder, 'data'))
// Files of requests that a kill cut short. Only the owner of the engine's lock may delete them.
for (const name of readdirSync(incoming)) rmSync(join(incoming, name))
writeFileSync(join(folder, 'pid'), String(process.pid))

const rows = makeRowsLoader(engine, incoming)
const inFlight = makeInFlight(() => {
  log.error('an insert that was to be killed goes on: ending the process')
  endAtOnce()
})

/** Not process.exit(): it waits for the statement that has to end. */
function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL')
}

const server = createServer({ keepAliveTimeout: 10_000, requestTimeout: 120_000 }, (request, response) => {
  answer(request, response).catch((error) => fail(request, response, EngineError.of(error)))
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'GET' && /^\/(?:\w+\/)?(?:ping)?$/.test(request.url ?? '')) {
    return send(response, 200, 'text/plain; charset=UTF-8', 'Ok.\n')
  }
  requireAccess(request, password)
  if (request.headers['content-encoding']) {
    throw new EngineError(48, 'Compressed bodies are not supported here', 'NOT_IMPLEMENTED')
  }
  const query = readHead(request)
  const insert = asRowsInsert(query.sql)
  if (insert) {
    if (insert.where !== undefined) refuseOutside({ sql: insert.where, params: query.params })
    const result = await inFlight.track(query, (isWanted) => rows.load(request, query, insert, isWanted))
    return sendResult(response, query, 'TabSeparated', result)
  }
  const result = await runText(request, response, query)
  sendResult(response, query, answerFormat(query.sql, query.defaultFormat), result)
}

async function runText(request: IncomingMessage, response: ServerResponse, query: Query): Promise<Answer> {
  await readText(request, query)
  refuseOutside(query)
  const killed = killedInserts(query)
  if (killed !== undefined) {
    await inFlight.end(killed)
    return { bytes: new Uint8Array(), rowsRead: 0, bytesRead: 0, elapsedNs: 0 }
  }
  // Nobody waits any more for the answer of a query that lay in the queue for too long.
  const isWanted = () => !response.destroyed
  try {
    return await engine.run({ ...query, format: query.defaultFormat, isInsert: false, isWanted })
  } finally {
    if (!leavesTables(query.sql)) rows.tablesChanged()
  }
}

const contentTypes: Record<string, string> = {
  JSON: 'application/json; charset=UTF-8',
  JSONCompact: 'application/json; charset=UTF-8',
  JSONEachRow: 'application/x-ndjson; charset=UTF-8',
  JSONCompactEachRow: 'application/x-ndjson; charset=UTF-8',
  CSV: 'text/csv; charset=UTF-8; header=absent',
  TabSeparated: 'text/tab-separated-values; charset=UTF-8',
  TSV: 'text/tab-separated-values; charset=UTF-8',
  RowBinary: 'application/octet-stream',
}

function sendResult(response: ServerResponse, query: Query, format: string, result: Answer): void {
  response.setHeader('X-ClickHouse-Query-Id', query.queryId)
  response.setHeader('X-ClickHouse-Format', format)
  const { rowsRead, bytesRead, elapsedNs } = result
  const summary = { read_rows: String(rowsRead), read_bytes: String(bytesRead), elapsed_ns: String(elapsedNs) }
  response.setHeader('X-ClickHouse-Summary', JSON.stringify(summary))
  send(response, 200, contentTypes[format] ?? 'text/plain; charset=UTF-8', result.bytes)
}

function fail(request: IncomingMessage, response: ServerResponse, error: EngineError): void {
  if (response.headersSent || response.destroyed) return
  response.setHeader('X-ClickHouse-Exception-Code', String(error.code))
  // A body that wasn't read to its end would be taken for the next request.
  if (!request.complete) response.setHeader('Connection', 'close')
  send(response, error.status, 'text/plain; charset=UTF-8', `${error.message}\n`)
}

function send(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

function openOrExit(path: string) {
  try {
    return openEngine(path)
  } catch (error) {
    log.fatal({ err: error }, `the folder ${path} can't be opened: is another process using it?`)
    process.exit(1)
  }
}

let isClosed = false
const shutdown = makeShutdown(log, (code) => {
  if (!isClosed) endAtOnce()
  process.exit(code)
})
let closed: Promise<unknown>
shutdown.step('stop accepting', () => {
  closed = once(server, 'close')
  server.close()
})
shutdown.step('finish what runs', async () => {
  await engine.close()
  isClosed = true
})
shutdown.step('send the last answers', () => Promise.race([closed, sleep(lastAnswersMs)]) as Promise<void>)

server.listen(Number(port), '127.0.0.1', () => {
  process.send?.({ type: 'ready', port: (server.address() as AddressInfo).port })
})
server.on('error', (error) => {
  log.fatal({ err: error }, `can't listen on port ${port}`)
  process.exit(1)
})
