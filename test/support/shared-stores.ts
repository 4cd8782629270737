/**
 * Vitest's global setup: one Postgres, one Redis, one ClickHouse, one browser, one surface for pages and one compiled
 * file of each service for a whole run. Each is started or made when the first test file asks for it, and ended after
 * the last. A run of unit tests alone so starts none. Test files, which are other processes, ask by HTTP; see stores.ts,
 * browser.ts, tracking-surface.ts and service-process.ts.
 */
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { createServer } from 'node:http'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrateClickHouse } from '../../clickhouse/migrate.ts'
import type { Postgres } from '../../postgres/client.ts'
import { migratePostgres } from '../../postgres/migrate.ts'
import { projectFile } from '../../runtime/paths.ts'
import { lastLogLine } from '../../start/processes/log-file.ts'
import { prepareClickHouse } from '../../start/stores/clickhouse.ts'
import { preparePostgres } from '../../start/stores/postgres.ts'
import { prepareRedis } from '../../start/stores/redis.ts'
import type { Store } from '../../start/stores/store.ts'
import type { RunningBrowser } from './browser.ts'
import { compileService } from './compile.ts'
import { answerHere } from './first-process.ts'
import { listening } from './listening.ts'
import { patientClickHouse, patientPostgres } from './patient-clients.ts'
import type { RunningSurface } from './shared-surface.ts'

declare module 'vitest' {
  interface ProvidedContext {
    sharedStoresPort: number
  }
}

export interface SharedStores {
  databaseUrl: string
  redisUrl: string
  clickhouseUrl: string
}

/** A Redis database for each caller of freshStores, with neighbours to spare. */
const redisDatabases = 4_000
const memoryFolder = '/dev/shm'
const folderPrefix = 'svc-test-'
/** Several times what the stores of a whole run take. */
const memoryBytesMin = 4 * 2 ** 30

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = makeFolder()
  // Also what test files and the services that they start keep in `tmpdir()`.
  process.env['TMPDIR'] = join(folder, 'tmp')
  mkdirSync(process.env['TMPDIR'], { mode: 0o777 })
  const ends: (() => Promise<void>)[] = []
  let starting: Promise<SharedStores> | undefined
  let browser: Promise<RunningBrowser> | undefined
  let surface: Promise<RunningSurface> | undefined
  const startedStores = () => (starting ??= startStores(folder, ends))
  // Loaded when they are asked for, because most runs need neither playwright nor a surface for pages.
  const startedBrowser = () => (browser ??= import('./browser.ts').then(({ startBrowser }) => startBrowser()))
  const startedSurface = () =>
    (surface ??= Promise.all([startedStores(), import('./shared-surface.ts')]).then(([stores, { startSurface }]) =>
      startSurface(stores),
    ))
  const parts: Readonly<Record<string, () => Promise<object>>> = {
    browser: async () => (await startedBrowser()).answer,
    surface: async () => (await startedSurface()).answer,
    workspace: async () => (await startedSurface()).makeWorkspace(),
  }
  const compiled = new Map<string, Promise<{ file: string }>>()
  const compiledService = (entry: string) => {
    const known = compiled.get(entry) ?? compileService(entry).then((file) => ({ file }))
    compiled.set(entry, known)
    return known
  }
  const answerTo = (path: string) => {
    const [, entry] = path.split('compiled/')
    return entry === undefined ? (parts[path] ?? startedStores)() : compiledService(entry)
  }
  answerHere(answerTo)
  const server = createServer((request, response) => {
    answerTo(request.url!.slice(1)).then(
      (answer) => response.end(JSON.stringify(answer)),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  project.provide('sharedStoresPort', (await listening(server)).port)
  return async () => {
    server.close()
    for (const part of [browser, surface]) await part?.then((running) => running.close()).catch(() => {})
    await starting?.catch(() => {})
    for (const end of ends) await end()
    rmSync(folder, { recursive: true, force: true })
    removeCompiled()
  }
}

async function startStores(folder: string, ends: (() => Promise<void>)[]): Promise<SharedStores> {
  const start = async (preparing: Promise<Store>): Promise<string> => {
    const store = await preparing
    const child = store.spawn()
    ends.unshift(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill(store.endSignal)
      await exited
    })
    const died = once(child, 'exit').then(() => {
      throw new Error(`${store.name} didn't start: ${lastLogLine(store.logFile)}`)
    })
    died.catch(() => {})
    await Promise.race([store.ready(child), died])
    return store.url
  }
  const [databaseUrl, redisUrl, clickhouseUrl] = await Promise.all([
    start(preparePostgres(join(folder, 'postgres'))),
    start(prepareRedis(join(folder, 'redis'), { databases: redisDatabases })),
    // A slow insert that is to be killed must not end the store of all the other tests.
    // Tests wait for mutations, and behind the merges of all others that takes a minute each.
    compileService('clickhouse/embedded-server.ts', {
      'clickhouse/embedded/engine.ts': { mergeThreads: 2, mergesAtOnce: 32, mergeNice: 0 },
      'clickhouse/embedded/in-flight.ts': { endWaitMs: 600_000 },
    }).then((file) => start(prepareClickHouse(join(folder, 'clickhouse'), file))),
  ])
  // The databases that every test's own are copied from: nobody may stay connected to that of Postgres.
  const template = patientPostgres(databaseUrl, { max: 1 })
  await migratePostgres(template)
  await makeSignInsCheap(template, databaseUrl)
  await template.close()
  const ch = patientClickHouse(clickhouseUrl)
  await migrateClickHouse(ch)
  await ch.close()
  // A thread a statement: over a test's few rows a second one costs more than it does, and test files fill the cores.
  return { databaseUrl, redisUrl, clickhouseUrl: `${clickhouseUrl}?max_threads=1` }
}

/** Tests open thousands of connections, and the password is random: it needs no rounds against guessing. */
async function makeSignInsCheap(pg: Postgres, databaseUrl: string): Promise<void> {
  const { username, password } = new URL(databaseUrl)
  await pg.query('SET scram_iterations = 1')
  await pg.query(`ALTER ROLE ${username} PASSWORD '${password}'`)
}

/** Removes the files that this process, its workers and earlier runs have compiled. */
function removeCompiled(): void {
  const folder = projectFile('.cache/test')
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    if (Number(name) === process.pid || !isAlive(Number(name)))
      rmSync(join(folder, name), { recursive: true, force: true })
  }
}

/** In memory where there is plenty: tests kill processes and no machines, so that nothing depends on what stores sync. */
function makeFolder(): string {
  if (!isMemoryPlenty()) return mkdtempSync(join(tmpdir(), folderPrefix))
  // A run that was killed can't delete its own, and memory is dear.
  for (const name of readdirSync(memoryFolder)) {
    const pid = name.startsWith(folderPrefix) ? Number(name.slice(folderPrefix.length).split('-')[0]) : Number.NaN
    if (pid > 0 && !isAlive(pid)) rmSync(join(memoryFolder, name), { recursive: true, force: true })
  }
  return mkdtempSync(join(memoryFolder, `${folderPrefix}${process.pid}-`))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function isMemoryPlenty(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder)
    return bavail * bsize >= memoryBytesMin && freemem() >= memoryBytesMin
  } catch {
    // Only Linux has it.
    return false
  }
}
