/** The doctor's findings on answers that the stores of a test don't give. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { examineClickHouse } from '../../cli/doctor/examine-clickhouse.ts'
import { examinePostgres } from '../../cli/doctor/examine-postgres.ts'
import { examineRedis } from '../../cli/doctor/examine-redis.ts'
import { examineNode } from '../../cli/doctor/examine-settings.ts'
import { examineBotLists, examineCountries } from '../../cli/doctor/examine-visitors.ts'
import type { Finding } from '../../cli/doctor/finding.ts'
import type { RedisProbe } from '../../cli/doctor/redis-probe.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { readConfig } from '../../runtime/config.ts'
import { projectFile } from '../../runtime/paths.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { setUpFolder } from '../support/test-folder.ts'

const dataDir = setUpFolder()

const wrong = (findings: Finding[], check: string) =>
  findings.filter((finding) => finding.check === check && finding.outcome !== 'ok')

test.each([
  [{ maxmemory_policy: 'allkeys-lru' }, 'redis.memory', 'failed', 'maxmemory-policy noeviction'],
  [{ maxmemory: '1000', used_memory: '950' }, 'redis.memory', 'warning', '95 %'],
  [{ aof_enabled: '0' }, 'redis.durability', 'warning', 'appendonly yes'],
  [{ aof_last_write_status: 'err' }, 'redis.durability', 'failed', 'append-only file'],
  [{ role: 'slave' }, 'redis.durability', 'failed', 'primary'],
] as const)('a Redis with %j is told of', async (differs, check, outcome, text) => {
  const info = { maxmemory_policy: 'noeviction', maxmemory: '0', used_memory: '1', aof_enabled: '1', role: 'master' }
  const probe = (fields: Record<string, string>): RedisProbe => ({
    ping: async () => {},
    now: async () => Date.now(),
    info: async () => fields,
    close: () => {},
    readClaims: async () => ({ since: null, claims: 0 }),
  })
  const config = readConfig({})
  expect(wrong(await examineRedis(probe(info), config), check)).toEqual([])
  expect(wrong(await examineRedis(probe({ ...info, ...differs }), config), check)).toEqual([
    { check, outcome, text: expect.stringContaining(text) },
  ])
})

test.each([
  [{ fsync: 'off' }, 'failed', 'fsync is off'],
  [{ full_page_writes: 'off' }, 'failed', 'full_page_writes is off'],
  [{ synchronous_commit: 'off' }, 'warning', 'synchronous_commit is off'],
  [{ copy: true }, 'failed', 'standby'],
] as const)('a Postgres with %j is told of', async (differs, outcome, text) => {
  const settings = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', copy: false }
  const query = (row: object) => async (sql: string) => (sql.includes('current_setting') ? [row] : [{ found: false }])
  const answering = (row: object) => ({ query: query(row) }) as never as Postgres
  const said = async (row: object) => wrong(await examinePostgres(answering(row)), 'postgres.durability')
  expect(await said(settings)).toEqual([])
  expect(await said({ ...settings, ...differs })).toMatchObject([{ outcome, text: expect.stringContaining(text) }])
  expect(await said({ ...settings, fsync: 'off', full_page_writes: 'off', elsewhere: true })).toEqual([])
})

test.each([
  [{ is_readonly: 1 }, 'failed', 'takes no writes'],
  [{ absolute_delay: 900, queue_size: 7 }, 'warning', '15 minutes behind with 7 tasks'],
] as const)('a replicated table with %j is told of', async (differs, outcome, text) => {
  const answering = (row: object) =>
    ({ query: async (sql: string) => (sql.includes('system.replicas') ? [row] : []) }) as never as ClickHouse
  const replica = { table: 'events', is_readonly: 0, absolute_delay: 3, queue_size: 1 }
  const said = async (row: object) => wrong(await examineClickHouse(answering(row)), 'clickhouse.replicas')
  expect(await said(replica)).toEqual([])
  expect(await said({ ...replica, ...differs })).toMatchObject([{ outcome, text: expect.stringContaining(text) }])
})

test('Node is well from 20.19 on', () => {
  const outcomes = ['20.19.0', '20.100.0', '22.0.0', '20.18.9', '18.99.0'].map(
    (version) => examineNode(version).outcome,
  )
  expect(outcomes).toEqual(['ok', 'ok', 'ok', 'failed', 'failed'])
})

test('a database of countries that can’t be used is told of, and the installed one can be', async () => {
  const ofDatabase = (database: string) => examineCountries({ config: readConfig({ COUNTRY_DATABASE: database }) })
  expect(await ofDatabase('')).toMatchObject([{ check: 'countries', outcome: 'ok' }])
  expect(await ofDatabase('off')).toMatchObject([{ outcome: 'ok', text: expect.stringContaining('off') }])
  for (const file of ['/no/such/file.mmdb', projectFile('package.json')]) {
    const [finding] = await ofDatabase(file)
    expect(finding, file).toMatchObject({ outcome: 'failed', text: expect.stringContaining('COUNTRY_DATABASE') })
  }
})

test('lists of crawlers’ addresses are told of once they are older than a year, and newer ones that can’t be used at once', async () => {
  const folder = join(dataDir, 'bot-addresses')
  mkdirSync(folder)
  const shipped = Date.parse('2026-05-05T18:01:02Z')
  expect(await examineBotLists({ dataDir }, shipped + 300 * dayMs)).toMatchObject([{ outcome: 'ok' }])
  const [late] = await examineBotLists({ dataDir }, shipped + 366 * dayMs)
  expect(late).toMatchObject({ outcome: 'warning', text: expect.stringMatching(/gptbot.*svc bots update/) })
  const renewed = new Date(shipped + 200 * dayMs).toISOString()
  const list = { creationTime: renewed, prefixes: [{ ipv4Prefix: '192.0.2.0/24' }] }
  writeFileSync(join(folder, 'gptbot.json'), JSON.stringify(list))
  writeFileSync(join(folder, 'bingbot.json'), '{}')
  const found = await examineBotLists({ dataDir }, shipped + 366 * dayMs)
  expect(found.map(({ outcome }) => outcome)).toEqual(['warning', 'warning'])
  expect(found[0]!.text).toContain('bingbot')
  expect(found[1]!.text).not.toContain('gptbot')
})
