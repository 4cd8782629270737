/**
 * Finds a Redis or Valkey server: on PATH, else in the project's cache, else in the distribution's package, which is
 * fetched into that cache.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { childEnvironment } from '../../runtime/config.ts'
import { projectFile } from '../../runtime/paths.ts'
import { fetchDebianPackages, isDebian, libraryPathOf } from './debian-packages.ts'

export interface RedisProgram {
  command: string
  env: Record<string, string>
}

/** The server and the libraries that a small system lacks. */
const packages = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1']
const fetchWithinMs = 240_000
/** Older versions refuse one of our settings, and exit. */
const oldestMajor = 7

/** @throws with one line that says how to install it */
export async function findRedis(say: (line: string) => void): Promise<RedisProgram> {
  let tooOld: Error | undefined
  for (const name of ['redis-server', 'valkey-server']) {
    const command = (childEnvironment()['PATH'] ?? '')
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find(existsSync)
    try {
      const program = command && { command, env: {} }
      if (program) return requireVersion(program, askVersion(program).stdout)
    } catch (error) {
      // The other one may be newer.
      tooOld ??= error as Error
    }
  }
  if (tooOld !== undefined) throw tooOld
  const cache = projectFile('.cache/redis')
  const root = join(cache, 'root')
  if (!existsSync(join(root, 'usr/bin/redis-server'))) await fetchPackages(root, say)
  const program = { command: join(root, 'usr/bin/redis-server'), env: { LD_LIBRARY_PATH: libraryPathOf(root) } }
  const { status, stdout, stderr, error } = askVersion(program)
  if (status !== 0) {
    rmSync(cache, { recursive: true, force: true })
    throw needed(`the fetched one doesn't run: ${(error?.message ?? stderr).trim()}`)
  }
  return requireVersion(program, stdout)
}

function askVersion({ command, env }: RedisProgram) {
  return spawnSync(command, ['--version'], { env: childEnvironment(env), encoding: 'utf8' })
}

/** @param said `Redis server v=7.0.15 sha=…`, `Valkey server v=8.1.1 sha=…`. @throws where its version is too old */
function requireVersion(program: RedisProgram, said: string | null): RedisProgram {
  const version = /\bv=(\d[\d.]*)/.exec(said ?? '')?.[1]
  if (version === undefined || Number.parseInt(version, 10) >= oldestMajor) return program
  throw needed(`${program.command} has version ${version}, ${oldestMajor} or newer is needed`)
}

async function fetchPackages(root: string, say: (line: string) => void): Promise<void> {
  if (!isDebian()) throw needed('none was found')
  say('fetching Redis from the distribution (once)')
  await fetchDebianPackages({ root, packages, withinMs: fetchWithinMs }).catch((error: Error) => {
    throw needed(error.message)
  })
}

function needed(why: string): Error {
  return new Error(`a Redis server is needed: install redis-server or valkey-server, or set REDIS_URL (${why})`)
}
