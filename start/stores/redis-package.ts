/**
 * Finds a Redis or Valkey server: on PATH, else in the project's cache, else in the distribution's package, which is
 * fetched by apt into that cache with folders of its own, and so without root and without changing the system.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { childEnvironment } from '../../runtime/config.ts'
import { projectFile } from '../../runtime/paths.ts'

export interface RedisProgram {
  command: string
  env: Record<string, string>
}

/** The server and the libraries that a small system lacks. */
const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1']
const aptWithinMs = 120_000

/** @throws with one line that says what to install */
export async function findRedis(say: (line: string) => void): Promise<RedisProgram> {
  for (const name of ['redis-server', 'valkey-server']) {
    const command = (childEnvironment()['PATH'] ?? '')
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find(existsSync)
    if (command) return { command, env: {} }
  }
  const cache = projectFile('.cache/redis')
  const cached = join(cache, 'root')
  if (!existsSync(join(cached, 'usr/bin/redis-server'))) await fetchPackages(cache, cached, say)
  const libraries = readdirSync(join(cached, 'usr/lib')).map((name) => join(cached, 'usr/lib', name))
  const program = {
    command: join(cached, 'usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: [...libraries, join(cached, 'usr/lib')].join(':') },
  }
  const { status, stderr, error } = spawnSync(program.command, ['--version'], { env: program.env, encoding: 'utf8' })
  if (status !== 0) {
    rmSync(cache, { recursive: true, force: true })
    throw needed(`the fetched one doesn't run: ${(error?.message ?? stderr).trim()}`)
  }
  return program
}

async function fetchPackages(cache: string, cached: string, say: (line: string) => void): Promise<void> {
  if (!existsSync('/etc/debian_version')) throw needed('none was found')
  say('fetching Redis from the distribution (once)')
  const work = join(cache, `fetch-${process.pid}`)
  const lists = join(work, 'lists')
  const unpacked = join(work, 'root')
  for (const folder of [join(lists, 'partial'), join(work, 'cache/archives/partial'), unpacked])
    mkdirSync(folder, { recursive: true })
  const apt = [
    ...['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${join(work, 'cache')}`],
    ...['-o', 'Debug::NoLocking=1', '-o', 'APT::Sandbox::User=', '-o', 'Acquire::Retries=2'],
  ]
  try {
    await run('apt-get', [...apt, 'update'], work)
    await run('apt-get', [...apt, 'download', ...packages], work)
    for (const name of readdirSync(work).filter((name) => name.endsWith('.deb')))
      await run('dpkg', ['-x', join(work, name), unpacked], work)
    // Renamed into place: a start that is killed here, or another beside this one, leaves no half of it.
    if (!existsSync(cached)) renameSync(unpacked, cached)
  } catch (error) {
    throw needed((error as Error).message)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function run(command: string, args: string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: aptWithinMs })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => (output = (output + data).slice(-500)))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${command} failed: ${output.trim().split('\n').at(-1)}`))
    })
  })
}

function needed(why: string): Error {
  return new Error(`a Redis server is needed: install redis-server or valkey-server, or set REDIS_URL (${why})`)
}
