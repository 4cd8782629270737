/** `npm start` until everything serves, with everything installed and a million events in DATA_DIR. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectClickHouse } from '../../clickhouse/client.ts'
import { childEnvironment } from '../../runtime/config.ts'
import { projectRoot } from '../../runtime/paths.ts'
import { type DevFile, devFilePath } from '../../start/dev-file.ts'
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { atEnd } from '../clean-up.ts'
import { median } from '../load/latency.ts'
import { type Cores, startOnCore } from '../measure/cores.ts'

const readyWithinMs = 120_000
const endWithinMs = 60_000

export async function start(settings: BenchSettings): Promise<ScenarioResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-start-'))
  const remove = atEnd(async () => rmSync(dataDir, { recursive: true, force: true }))
  const events = settings.isShort ? 1_000 : 1_000_000
  try {
    const first = await startOnce(dataDir, settings.cores)
    settings.say(`  first start, which makes the stores: ${first.seconds.toFixed(1)} s`)
    try {
      await insertEvents(first.dev, events)
    } finally {
      await first.stop()
    }
    const rounds: { seconds: number; npmSeconds: number; stored: number }[] = []
    for (let round = 0; round < settings.rounds; round++) {
      const npmSeconds = timeNpm(settings.cores)
      const { seconds, dev, stop } = await startOnce(dataDir, settings.cores)
      let stored: number
      try {
        stored = await countEvents(dev)
      } finally {
        await stop()
      }
      rounds.push({ seconds, npmSeconds, stored })
      settings.say(`  ${seconds.toFixed(2)} s, beside npm alone ${npmSeconds.toFixed(2)} s`)
    }
    return {
      figures: [
        {
          measure: '`npm start` to ready',
          value: median(rounds.map(({ seconds }) => seconds)),
          unit: 's',
          firstStage: 8,
          goal: 4,
        },
        {
          measure: 'npm alone (`npm --version`), beside it',
          value: median(rounds.map(({ npmSeconds }) => npmSeconds)),
          unit: 's',
        },
      ],
      counts: {
        sent: events,
        acknowledged: events,
        stored: Math.min(...rounds.map(({ stored }) => stored)),
        repeated: 0,
      },
      remarks: [`The first start on an empty folder took ${first.seconds.toFixed(1)} s.`, 'Not pinned to a core.'],
      settings: { events },
      rounds,
    }
  } finally {
    await remove()
  }
}

interface Running {
  readonly seconds: number
  readonly dev: DevFile
  stop(): Promise<void>
}

async function startOnce(dataDir: string, cores: Cores | string): Promise<Running> {
  const startedAt = performance.now()
  const unset = { DATABASE_URL: undefined, REDIS_URL: undefined, CLICKHOUSE_URL: undefined, SECRET_KEY: undefined }
  const env = childEnvironment({ ...unset, PORT: '0', DATA_DIR: dataDir, NODE_ENV: undefined })
  const child = startOnCore(cores, 'both', () =>
    spawn('npm', ['start', '--silent'], { cwd: projectRoot, env, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  const stop = atEnd(() => stopProduct(child, dataDir))
  try {
    await untilGreeted(child)
    const dev = JSON.parse(readFileSync(devFilePath(dataDir), 'utf8')) as DevFile
    const answer = await fetch(`${dev.tracking_url}/health`)
    if (!answer.ok) throw new Error(`ingest answers ${answer.status} after the start`)
    return { seconds: (performance.now() - startedAt) / 1000, dev, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** It greets when all services serve. */
function untilGreeted(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const timer = setTimeout(
      () => reject(new Error(`no start within ${readyWithinMs / 1000} s: ${said}`)),
      readyWithinMs,
    )
    const hear = (data: Buffer) => {
      said = (said + data.toString('utf8')).slice(-4_000)
      if (!said.includes('svc runs at ')) return
      clearTimeout(timer)
      resolve()
    }
    child.stdout!.on('data', hear)
    child.stderr!.on('data', hear)
    child.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(`npm start ended: ${said}`))
    })
  })
}

/** npm doesn't pass signals on everywhere, so the supervisor itself is asked, by the pid in its lock. */
async function stopProduct(child: ChildProcess, dataDir: string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  const supervisor = readSupervisor(dataDir)
  process.kill(supervisor ?? child.pid!, 'SIGTERM')
  const timer = setTimeout(() => {
    if (supervisor) process.kill(supervisor, 'SIGKILL')
    child.kill('SIGKILL')
  }, endWithinMs)
  await exited
  clearTimeout(timer)
}

function readSupervisor(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'lock'), 'utf8').split(' ')[0])
  } catch {
    return undefined
  }
}

function timeNpm(cores: Cores | string): number {
  const startedAt = performance.now()
  startOnCore(cores, 'both', () => spawnSync('npm', ['--version'], { cwd: projectRoot }))
  return (performance.now() - startedAt) / 1000
}

/** A month of page views, made by ClickHouse itself. */
async function insertEvents(dev: DevFile, count: number): Promise<void> {
  const ch = connectClickHouse(dev.clickhouse_url)
  try {
    await ch.command(
      `INSERT INTO events (id, workspace_id, occurred_at, received_at, event_type, kind, visitor, session, session_named,
         event_name, anonymous_id, client_event_id, path, url, title, source, medium, browser, os, properties)
       SELECT number + 1, {workspace:UInt32}, now64(3) - toIntervalSecond(number % 2592000) AS at, at, 'track', 'pageview',
         cityHash64(number % 50000), cityHash64(number % 150000), 1, 'pageview', toString(cityHash64(number % 50000)),
         toString(generateUUIDv4()), concat('/page-', toString(number % 500)) AS page, concat('https://www.example.com', page),
         'A page', 'google', 'organic', 'Chrome', 'Windows', '{}'
       FROM numbers({count:UInt64})`,
      { workspace: dev.workspace_id, count },
      { deadlineMs: 300_000 },
    )
  } finally {
    await ch.close()
  }
}

async function countEvents(dev: DevFile): Promise<number> {
  const ch = connectClickHouse(dev.clickhouse_url)
  try {
    const [row] = await ch.query<{ count: number }>('SELECT count() AS count FROM events')
    return row!.count
  } finally {
    await ch.close()
  }
}
