/** `svc doctor` over real stores: nothing said of what is well, and each thing that is wrong said once. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { examineDisk } from '../../cli/doctor/examine-disk.ts'
import { examineIngest } from '../../cli/doctor/examine-ingest.ts'
import { examineMail } from '../../cli/doctor/examine-mail.ts'
import { examineRedis } from '../../cli/doctor/examine-redis.ts'
import { examineSettings } from '../../cli/doctor/examine-settings.ts'
import { examineFold, examineMarks, examineSalts } from '../../cli/doctor/examine-shipping.ts'
import type { Finding } from '../../cli/doctor/finding.ts'
import { connectRedis } from '../../cli/doctor/redis-probe.ts'
import { openInstallation } from '../../cli/installation.ts'
import { connectClaims } from '../../ingest/ship/claim.ts'
import { insertReportRecipient } from '../../postgres/tables/messages/report-recipients.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { readConfig } from '../../runtime/config.ts'
import { projectFile } from '../../runtime/paths.ts'
import { probeDeadlineMs } from '../../schemas/limits/doctor-limits.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { runSvc, storeSettings } from '../support/command-line.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { startIngest, type TestIngest } from '../support/ingest.ts'
import { listening } from '../support/listening.ts'
import { mailLogin, startMailServer } from '../support/mail-server.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const minute = 60_000

const stores = setUpStores()
/** Stores that no service keeps. */
const other = setUpStores()
let ingest: TestIngest
let dataDir: string

/** On a disk, where the folders of other tests may be in memory: doctor warns of those. */
function makeFolder(): string {
  mkdirSync(projectFile('.cache'), { recursive: true })
  return mkdtempSync(projectFile('.cache/svc-doctor-'))
}

beforeAll(async () => {
  dataDir = makeFolder()
  ingest = await startIngest(stores, { DATA_DIR: dataDir })
})
afterAll(async () => {
  await ingest?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
afterEach(() => vi.restoreAllMocks())

const environment = (): Record<string, string> => ({
  ...storeSettings(stores),
  DATA_DIR: dataDir,
  // So that the disk of the testing machine will do.
  LOG_BYTES_MAX: String(64 * 2 ** 20),
})

async function examine(env: Record<string, string> = {}) {
  return examineAs({ ...environment(), ...env }, ['--ingest-url', new URL(ingest.url).origin])
}

async function examineAs(env: Record<string, string>, words: string[] = []) {
  const { code, out, err } = await runSvc(['doctor', '--json', ...words], env)
  expect(out, err).toMatch(/^\{/)
  const { findings } = JSON.parse(out) as { findings: Finding[] }
  return {
    code,
    out,
    findings,
    /** Findings that aren't well, but for the disk of the testing machine and the age of the lists that ship. */
    wrong: findings.filter(({ outcome, check }) => outcome !== 'ok' && !/disk$|^bots\.addresses$/.test(check)),
    about: (check: string) => findings.filter((finding) => finding.check === check),
  }
}

/** For one examination by itself: together they look at all stores each time. */
const installed = (env: Record<string, string> = {}) => openInstallation(readConfig({ ...environment(), ...env }))

const warning = (text: string) => [{ outcome: 'warning', text: expect.stringContaining(text) }]
const ok = (text = '') => [{ outcome: 'ok', text: expect.stringContaining(text) }]

test('an installation that is well has nothing wrong, is found through its folder, and is shown in lines with counts', async () => {
  const expectWell = ({ code, findings, wrong }: Awaited<ReturnType<typeof examine>>) => {
    expect([code, wrong]).toEqual([0, []])
    const looked = new Set(findings.map(({ check }) => check))
    const checks = ['node', 'settings', 'postgres', 'clickhouse', 'redis', 'clock', 'disk', 'ingest', 'mail']
    const kept = ['salts', 'marks', 'fold', 'dedup.claims', 'dedup.node']
    for (const check of [...checks, ...kept]) expect(looked).toContain(check)
  }
  expectWell(await examine())
  const { DATA_DIR, LOG_BYTES_MAX, SECRET_KEY } = environment() as { [name: string]: string }
  const { databaseUrl: database_url, redisUrl: redis_url, clickhouseUrl: clickhouse_url } = stores
  const tracking_url = ingest.url
  // As `npm start` writes it.
  writeFileSync(join(dataDir, 'dev.json'), JSON.stringify({ database_url, redis_url, clickhouse_url, tracking_url }))
  expectWell(await examineAs({ DATA_DIR, LOG_BYTES_MAX, SECRET_KEY } as Record<string, string>))
  rmSync(join(dataDir, 'dev.json'))

  const { out } = await runSvc(['doctor'], environment())
  const lines = out.trimEnd().split('\n')
  expect(lines.at(-1)).toMatch(/^\d+ ok, \d+ warnings, 0 failed$/)
  expect(lines).toContainEqual(expect.stringMatching(/^ok {7}postgres\.schema {2,}all migrations have run$/))
  expect(lines).toContainEqual(expect.stringMatching(/^ok {7}redis {2,}version .* answers in [\d.]+ ms$/))
})

describe('a store that is away', () => {
  const away = {
    postgres: { DATABASE_URL: 'postgres://svc:pa55word@127.0.0.1:1/svc' },
    redis: { REDIS_URL: 'redis://:pa55word@127.0.0.1:1/0' },
    clickhouse: { CLICKHOUSE_URL: 'http://svc:pa55word@127.0.0.1:1/svc' },
  }
  test.each(Object.entries(away))(
    '(%s) fails its own check only, with exit code 1 and no password',
    async (name, env) => {
      const { code, out, wrong, about } = await examine(env)
      expect(wrong).toEqual([{ check: name, outcome: 'failed', text: expect.stringContaining('ECONNREFUSED') }])
      expect(code).toBe(1)
      expect(out).not.toContain('pa55word')
      for (const other of Object.keys(away).filter((each) => each !== name)) expect(about(other)).toMatchObject(ok())
    },
  )

  test('and hangs is given up within a time', async () => {
    const hanging: Record<string, string> = {}
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL']) {
      const proxy = await startTcpProxy(environment()[name]!)
      onTestFinished(() => proxy.close())
      await proxy.set('hanging')
      hanging[name] = proxy.url
    }
    const { code, wrong } = await examine(hanging)
    expect(wrong.map(({ check }) => check)).toEqual(['postgres', 'clickhouse', 'redis'])
    expect(wrong[0]!.text).toContain(`its answer took longer than ${probeDeadlineMs} ms`)
    expect(code).toBe(1)
  })

  test('is said of a data folder in which nothing runs, once for each store', async () => {
    const { code, findings } = await examineAs({ DATA_DIR: join(stores.dataDir, 'nothing') })
    const failed = findings.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ check }) => check)).toEqual(['postgres', 'clickhouse', 'redis'])
    for (const { text } of failed) expect(text).toContain('nothing runs in the data folder')
    expect(code).toBe(1)
  })
})

describe('settings', () => {
  test('all that can not be used are named, and the rest is looked at all the same', async () => {
    const { code, wrong, about } = await examine({ PORT: 'eighty', REDIS_URL: 'http://x', SECRET_KEY: 'short' })
    const failed = (name: string) => ['settings', 'failed', name]
    const named = wrong.map(({ check, outcome, text }) => [check, outcome, text.split(' ')[0]])
    expect(named).toEqual(['PORT', 'REDIS_URL', 'SECRET_KEY'].map(failed))
    expect(code).toBe(1)
    expect(about('postgres')).toHaveLength(1)
  })

  const said = (env: Record<string, string>) =>
    examineSettings({ variables: { ...environment(), ...env }, wrong: new Map() }, installed(env))

  test('that look like one of ours are named with the one that is meant, and others are left alone', () => {
    const found = said({
      TRUST_PROXIES: '10.0.0.1',
      DEDUP_WINDOW: '48',
      DISK_FREE_MIN_BYTES: '1',
      api_host: 'x',
      PORTS: '1',
      CLICKHOUSE_USER: 'x',
      REDIS_PASSWORD: 'x',
      NODE_OPTIONS: 'x',
      PGHOST: 'x',
    })
    expect(found.map(({ outcome, text }) => [outcome, text])).toEqual([
      ['warning', 'TRUST_PROXIES is none of ours: is TRUSTED_PROXIES meant?'],
      ['warning', 'DEDUP_WINDOW is none of ours: is DEDUP_WINDOW_HOURS meant?'],
      ['warning', 'DISK_FREE_MIN_BYTES is none of ours: is DISK_FREE_BYTES_MIN meant?'],
      ['warning', 'api_host is none of ours: is API_HOST meant?'],
    ])
  })

  test('of production are asked for, a secret that is typed is warned of, and another than that of the data refused by commands too', async () => {
    const production = { NODE_ENV: 'production' }
    const unset = await examine(production)
    expect(unset.code).toBe(0)
    expect(unset.wrong.map(({ text }) => text.split(' ')[0])).toEqual(['TRUSTED_PROXIES', 'API_HOST'])
    // As docs/operations.md sets up one machine: a proxy on it is before `npm start`.
    const started = makeFolder()
    const { databaseUrl: database_url, clickhouseUrl: clickhouse_url, redisUrl: redis_url } = stores
    const dev = { database_url, clickhouse_url, redis_url, tracking_url: ingest.url }
    writeFileSync(join(started, 'dev.json'), JSON.stringify(dev))
    const byStart = { ...production, DATA_DIR: started, API_HOST: 'https://stats.example.com' }
    expect(said(byStart)).toMatchObject([{ outcome: 'ok' }])
    expect(said({ ...byStart, LISTEN_HOST: '0.0.0.0' })).toMatchObject([{ outcome: 'warning' }])
    rmSync(started, { recursive: true })
    const set = { ...production, TRUSTED_PROXIES: '10.0.0.0/8', API_HOST: 'https://api.example.com' }
    expect(said(set)).toMatchObject([{ outcome: 'ok' }])
    expect(said({ ...set, API_HOST: 'http://localhost:8080' })).toMatchObject([{ outcome: 'warning' }])
    expect((await examine({ SECRET_KEY: 'x'.repeat(40) })).wrong.map(({ check }) => check)).toEqual([
      'settings',
      'postgres.secret-key',
    ])
    expect(said({ SECRET_KEY: '' })).toMatchObject([{ outcome: 'failed' }])

    const dataDir = makeFolder()
    writeFileSync(join(dataDir, 'secret.key'), 'another-secret-of-forty-characters-abcdef\n')
    writeFileSync(join(dataDir, 'dev.json'), JSON.stringify({ database_url: stores.databaseUrl }))
    const { code, about } = await examine({ DATA_DIR: dataDir, SECRET_KEY: '' })
    expect([code, about('postgres.secret-key')]).toMatchObject([1, [{ outcome: 'failed' }]])
    const words = ['revenue', 'connect', '--provider', 'stripe']
    const { err } = await runSvc(words, { ...environment(), DATA_DIR: dataDir, SECRET_KEY: '' })
    expect(err).toMatch(/^svc revenue connect: SECRET_KEY .*isn't the key that the data/)
    rmSync(dataDir, { recursive: true })
  })
})

describe('the stores', () => {
  test('a migration that has not run, and one that this version does not know, fail', async () => {
    const last = await stores.pg.query<{ name: string; checksum: string }>(
      'DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations) RETURNING name, checksum',
    )
    const { name, checksum } = last[0]!
    const failed = (text: string) => [
      { check: 'postgres.schema', outcome: 'failed', text: expect.stringContaining(text) },
    ]
    expect((await examine()).wrong).toEqual(failed(`${name}; run \`svc migrate\``))
    const insert = 'INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)'
    await stores.pg.query(insert, [name, checksum])
    await stores.pg.query(insert, ['9999_later.sql', 'x'])
    expect((await examine()).wrong).toEqual(failed('9999_later.sql'))
    await stores.pg.query("DELETE FROM schema_migrations WHERE name = '9999_later.sql'")
  })

  test('a table that does not sync, or does not know inserts again, fails with the statement that mends it', async () => {
    await stores.ch.command(
      'ALTER TABLE events MODIFY SETTING fsync_after_insert = 0, non_replicated_deduplication_window = 0',
    )
    const { wrong } = await examine()
    expect(wrong.map(({ check, outcome }) => [check, outcome])).toEqual([
      ['clickhouse.durability', 'failed'],
      ['clickhouse.repeats', 'failed'],
    ])
    for (const { text } of wrong) await stores.ch.command(/ALTER TABLE .*$/.exec(text)![0])
    expect((await examine()).wrong).toEqual([])
  })

  test('clocks that are a second apart are warned of, and a minute apart they fail', async () => {
    const now = Date.now
    const ahead = (ms: number) => vi.spyOn(Date, 'now').mockImplementation(() => now() + ms)
    ahead(30_000)
    const apart = await examine()
    expect(apart.wrong.map(({ check, outcome }) => [check, outcome])).toEqual(Array(3).fill(['clock', 'warning']))
    expect(apart.wrong[0]!.text).toContain('behind this machine')
    ahead(-5 * minute)
    const far = await examine()
    expect(far.about('clock').map(({ outcome }) => outcome)).toEqual(Array(3).fill('failed'))
    expect(far.about('clock')[0]!.text).toContain('5 minutes ahead')
    expect(far.code).toBe(1)
  })

  test('client event ids are said to be known for as long as Redis has held them', async () => {
    const probe = connectRedis(other.redisUrl)
    const claims = connectClaims({ url: other.redisUrl, windowHours: 24, entriesMax: 1_000_000 })
    const redis = new Redis(other.redisUrl)
    const database = Number(new URL(other.redisUrl).pathname.slice(1)) + 1
    const heldSince = async (hours: number) => {
      await redis.select(database)
      await redis.set('since', Date.now() - hours * 60 * minute)
    }
    const said = async () => {
      const found = await examineRedis(probe, readConfig({ DEDUP_CLAIMS_MAX: '1000' }))
      return found.filter(({ check }) => check === 'dedup.claims')
    }
    try {
      expect(await said()).toMatchObject(ok('no client event id'))
      const packed = Buffer.alloc(16 * 500)
      for (let at = 0; at < 500; at++) packed.writeUInt32LE(at + 1, at * 16)
      await vi.waitFor(() => claims.claim(packed), 60_000)
      await heldSince(2)
      const short = [{ outcome: 'warning', text: expect.stringMatching(/for 2 of 24 hours.*DEDUP_CLAIMS_MAX/) }]
      expect(await said()).toMatchObject(short)
      await heldSince(20)
      expect(await said()).toMatchObject(ok('for 20 of 24 hours'))
      await heldSince(25)
      expect(await said()).toMatchObject(ok('for 24 hours'))
    } finally {
      redis.disconnect()
      probe.close()
      await claims.close()
    }
  })
})

describe('what the services keep going', () => {
  function cameIn(id: number, agoMs: number): Promise<void> {
    const moment = Date.now() - agoMs
    return insertEventRows(other.ch, [makeEventRow({ id, occurred_at: moment, received_at: moment })])
  }
  test('figures that have stopped following the events are warned of', async () => {
    const said = () => examineFold(other.pg, other.ch)
    const first = await leaseSegments(other.pg, segmentLeaseSize)
    const id = first * segmentRowsMax + 5
    await cameIn(id, 20 * minute)
    await advanceMark(other.pg, first, id)
    expect(await said()).toMatchObject(ok())
    await other.pg.query("UPDATE fold_state SET written_at = now() - interval '30 minutes'")
    const behind = "events that aren't in figures yet: 1, and none was folded for 30 minutes"
    expect(await said()).toMatchObject(warning(behind))
    await other.pg.query('INSERT INTO fold_marks VALUES ($1, $2, $3)', [first, first + segmentLeaseSize, id])
    expect(await said()).toMatchObject(ok())
  })

  test('a mark that stays below rows of its lease is warned of, and one that rows have just passed is not', async () => {
    const said = () => examineMarks(other.pg, other.ch)
    const first = await leaseSegments(other.pg, segmentLeaseSize)
    const begin = first * segmentRowsMax
    await cameIn(begin + 7, 0)
    expect(await said()).toMatchObject(ok())
    await cameIn(begin + 3, 20 * minute)
    await cameIn(begin + 4, 15 * minute)
    const text = expect.stringMatching(new RegExp(`lease ${first} .* rows above it: 3`))
    expect(await said()).toMatchObject([{ outcome: 'warning', text }])
    await advanceMark(other.pg, first, begin + 4)
    expect(await said()).toMatchObject(ok())
  })

  test('a mark that a seed or an import left behind is warned of with its own remedy, and not at once', async () => {
    for (const [holder, remedy] of [
      ['seed', 'delete that with `svc workspace delete`'],
      ['import', 'import its file again'],
    ] as const) {
      const first = await leaseSegments(other.pg, segmentLeaseSize, holder)
      const id = first * segmentRowsMax + 1
      await cameIn(id, 20 * minute)
      expect(await examineMarks(other.pg, other.ch)).toMatchObject(ok())
      await other.pg.query(
        "UPDATE segment_leases_taken SET updated_at = now() - interval '30 minutes' WHERE first_segment = $1",
        [first],
      )
      const [found] = await examineMarks(other.pg, other.ch)
      expect(found).toMatchObject({ outcome: 'warning', text: expect.stringMatching(/workspace 1 still runs/) })
      expect(found!.text).toContain(remedy)
      await advanceMark(other.pg, first, id)
    }
  })

  test('a salt of today that nobody made, what lies set aside, and a disk without room, are named', async () => {
    expect(await examineSalts(other.pg)).toMatchObject(warning(''))
    const folder = join(dataDir, 'ingest', 'set-aside')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'events-row-1.json'), '{}')
    const { wrong } = await examine()
    expect(wrong.map(({ check }) => check)).toEqual(['ingest.set-aside'])
    expect(wrong).toMatchObject(warning(join(dataDir, 'ingest')))
    rmSync(folder, { recursive: true })
    for (const [name, outcome] of [
      ['DISK_FREE_BYTES_MIN', 'failed'],
      ['LOG_BYTES_MAX', 'warning'],
    ] as const) {
      const found = await examineDisk(installed({ [name]: String(2 ** 44) }))
      expect(found).toContainEqual(expect.objectContaining({ check: 'disk', outcome }))
    }
  })
})

describe('ingest', () => {
  /** Something that answers as ingest would, and says what it is told to. */
  async function pretend(health: { status: number; body: unknown }, metrics = ''): Promise<string> {
    const server = createServer((request, response) => {
      const isMetrics = request.url === '/metrics'
      response.writeHead(isMetrics ? 200 : health.status).end(isMetrics ? metrics : JSON.stringify(health.body))
    })
    onTestFinished(() => void server.close())
    return (await listening(server)).url
  }

  const backlog = (seconds: number) => ({ events: { bytes: 5e6, segments: 3, oldest_seconds: seconds } })
  const well = { status: 200, body: { status: 'ok', reason: null, backlog: backlog(2) } }
  const said = (url: string) => examineIngest(installed(), url)
  const held = (hours: number, upHours: number) =>
    `ingest_dedup_window_held_hours{service="ingest"} ${hours}\nprocess_start_time_seconds{service="ingest"} ${Date.now() / 1000 - upHours * 3600}\n`

  test('that is away, refuses or lags behind is named', async () => {
    expect(await said('http://127.0.0.1:9')).toMatchObject([{ check: 'ingest', outcome: 'failed' }])
    const full = { status: 503, body: { status: 'refusing', reason: 'The disk is full', backlog: backlog(0) } }
    const refusing = { check: 'ingest', outcome: 'failed', text: 'refuses events: The disk is full' }
    expect(await said(await pretend(full))).toMatchObject([refusing])
    const late = { status: 200, body: { status: 'ok', reason: null, backlog: backlog(600) } }
    const [lagging] = await said(await pretend(late, held(24, 30)))
    expect([lagging]).toMatchObject([{ check: 'ingest', ...warning('the oldest for 10 minutes')[0] }])
  })

  test.each([
    [24, 100, 'ok', 'for 24 hours'],
    [3, 3, 'ok', 'for 3 of 24 hours, and growing since its start'],
    [3, 50, 'warning', 'raise DEDUP_LOCAL_ENTRIES'],
  ])('whose memory holds %s hours of %s is %s', async (hours, upHours, outcome, text) => {
    const [, found] = await said(await pretend(well, held(hours, upHours)))
    expect(found).toMatchObject({ check: 'dedup.node', outcome, text: expect.stringContaining(text) })
  })
})

const mailOf = (env: Record<string, string> = {}) => examineMail(installed(env), new Map(), stores.pg)

test('the mail server is asked where one is set, and nothing tells its password', async () => {
  const server = await startMailServer()
  onTestFinished(() => server.close())
  const url = (password: string) => `smtp://${mailLogin.user}:${password}@127.0.0.1:${server.port}`
  const MAIL_FROM = 'a@example.com'
  expect((await examine({ SMTP_URL: url(mailLogin.password), MAIL_FROM })).about('mail')).toMatchObject(ok('answers'))
  const { out, about } = await examine({ SMTP_URL: url('unlikely'), MAIL_FROM })
  expect(about('mail')).toMatchObject([{ outcome: 'failed', text: expect.stringContaining('EAUTH 535') }])
  expect(out).not.toContain('unlikely')
  expect(await mailOf({ MAIL_FROM })).toMatchObject([{ outcome: 'failed' }])
  const openServer = await startMailServer({ needsLogin: false })
  onTestFinished(() => openServer.close())
  const SMTP_URL = `smtp://127.0.0.1:${openServer.port}`
  const open = { outcome: 'ok', text: 'the server answers; SMTP_URL has no user' }
  expect(await mailOf({ SMTP_URL, MAIL_FROM })).toMatchObject([open])
})

test('without mail it says whose environment it means, and warns once reports have recipients', async () => {
  const unset = "SMTP_URL and MAIL_FROM aren't in this command's environment"
  expect(await mailOf()).toEqual([{ check: 'mail', outcome: 'ok', text: unset }])
  const { workspaceId } = ingest
  onTestFinished(async () => void (await stores.pg.query('DELETE FROM report_recipients')))
  const add = (email: string) =>
    insertReportRecipient(stores.pg, { workspaceId, email, every: 'weekly', createdAt: new Date() })
  await add('a@example.com')
  expect(await mailOf()).toMatchObject(warning(`${unset}, and reports have 1 recipient:`))
  await add('b@example.com')
  expect(await mailOf()).toMatchObject(warning('reports have 2 recipients:'))
  // `npm start` tells whether its services have mail.
  const file = join(dataDir, 'dev.json')
  onTestFinished(() => rmSync(file))
  writeFileSync(file, JSON.stringify({ database_url: stores.databaseUrl, has_mail: true }))
  expect(await mailOf()).toMatchObject(ok('`npm start` has both'))
})
