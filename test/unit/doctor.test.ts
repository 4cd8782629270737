/** What the doctor makes of answers that the stores of a test don't give. */
import { expect, test } from 'vitest'
import { examineClickHouse } from '../../cli/doctor/examine-clickhouse.ts'
import { examinePostgres } from '../../cli/doctor/examine-postgres.ts'
import { examineRedis } from '../../cli/doctor/examine-redis.ts'
import { examineNode, looksLike } from '../../cli/doctor/examine-settings.ts'
import type { Finding } from '../../cli/doctor/finding.ts'
import type { RedisProbe } from '../../cli/doctor/redis-probe.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import type { Postgres } from '../../postgres/client.ts'
import { readConfig } from '../../runtime/config.ts'

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
    readClaims: async () => ({ since: null, claims: 0 }),
    close: () => {},
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
  const answering = (row: object) =>
    ({
      query: async (sql: string) => (sql.includes('current_setting') ? [row] : [{ found: false }]),
    }) as never as Postgres
  const said = async (row: object) => wrong(await examinePostgres(answering(row)), 'postgres.durability')
  expect(await said(settings)).toEqual([])
  expect(await said({ ...settings, ...differs })).toMatchObject([{ outcome, text: expect.stringContaining(text) }])
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

test.each([
  ['20.19.0', 'ok'],
  ['20.18.9', 'failed'],
  ['18.99.0', 'failed'],
  ['20.100.0', 'ok'],
  ['22.0.0', 'ok'],
])('Node %s is %s', (version, outcome) => {
  expect(examineNode(version).outcome).toBe(outcome)
})

test.each([
  ['DATABASE_URI', 'DATABASE_URL', true],
  ['database_url', 'DATABASE_URL', true],
  ['DATABASEURL', 'DATABASE_URL', true],
  ['TRACK_RATE', 'TRACK_RATE_PER_KEY', true],
  ['DATABASE_PASSWORD', 'DATABASE_URL', false],
  ['PORT_A', 'PORT', false],
  ['HOST', 'PORT', false],
  ['CLAIM', 'CLAIM_WAIT_MS', false],
])('the variable %s looks like the setting %s: %s', (name, setting, isLike) => {
  expect(looksLike(name, setting)).toBe(isLike)
})
