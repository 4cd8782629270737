/**
 * Redis (or Valkey): the program of the system, else the distribution's package unpacked into the project's cache. It
 * holds claims and queues: nothing is evicted, and its log is synced each second.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { endLeftOver } from '../processes/left-over.ts'
import { launch } from './launch.ts'
import { findRedis } from './redis-package.ts'
import { freePort, keptPassword, type StartAnswer, type Store, untilUp } from './store.ts'

const readyWithinMs = 60_000
const answerWithinMs = 1_000

export async function prepareRedis(
  folder: string,
  options: { databases?: number; say?: (line: string) => void } = {},
): Promise<Store> {
  const home = resolve(folder)
  const { command, env } = await findRedis(options.say ?? (() => {}))
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const password = await keptPassword(home)
  const pidFile = join(home, 'redis.pid')
  await clearLeftOver(pidFile, home)

  const port = await freePort()
  // Settings stand in a file, so that the password doesn't stand in the list of processes.
  const configFile = join(home, 'redis.conf')
  const config: Record<string, string | number> = {
    bind: '127.0.0.1',
    port,
    dir: quote(home),
    pidfile: quote(pidFile),
    requirepass: password,
    databases: options.databases ?? 16,
    'maxmemory-policy': 'noeviction',
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '""',
    daemonize: 'no',
    // A left-over process is known by the folder in its command line.
    'set-proc-title': 'no',
  }
  writeFileSync(
    configFile,
    Object.entries(config)
      .map(([name, value]) => `${name} ${value}\n`)
      .join(''),
    { mode: 0o600 },
  )

  const logFile = join(dirname(home), 'logs', 'redis.log')
  return {
    name: 'redis',
    url: `redis://:${password}@127.0.0.1:${port}/0`,
    logFile,
    endSignal: 'SIGTERM',
    spawn: () => launch({ command, args: [configFile], logFile, env, endSignal: 'SIGTERM' }),
    ready: (child) => untilUp(child, readyWithinMs, () => ask(port, password)),
  }
}

/** It is up when it answers PING: while it loads its log it accepts connections but not commands, and says so. */
function ask(port: number, password: string): Promise<StartAnswer> {
  return new Promise((done) => {
    const socket = connect({ host: '127.0.0.1', port })
    let text = ''
    const end = (answer: StartAnswer) => {
      socket.destroy()
      done(answer)
    }
    socket.setTimeout(answerWithinMs, () => end('none'))
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`))
    socket.on('error', () => end('none'))
    socket.on('close', () => end('none'))
    socket.on('data', (data) => {
      text += data.toString('latin1')
      if (text.includes('+PONG')) end('up')
      else if (text.includes('-')) end(text.includes('-LOADING') ? 'reading' : 'none')
    })
  })
}

async function clearLeftOver(pidFile: string, home: string): Promise<void> {
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  await endLeftOver(pid, home, 'SIGTERM')
  rmSync(pidFile, { force: true })
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
