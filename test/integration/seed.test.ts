import { beforeAll, describe, expect, test } from 'vitest'
import type { SeedResult } from '../../cli/seed/seed-events.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { eventTypes } from '../../schemas/event/event-fields.ts'
import { eventColumns, kinds } from '../../schemas/event/row.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { startApi } from '../support/api.ts'
import { runSvc } from '../support/command-line.ts'
import { rowOf } from '../support/enriching.ts'
import { foldAll } from '../support/fold.ts'
import { setUpStores } from '../support/stores.ts'

const days = 10
/** A noon: near midnight the first of the days would have next to nothing. */
const until = Math.floor(Date.now() / 86_400_000 - 0.5) * 86_400_000 + 43_200_000
const shape = `--events 10000 --workspaces 3 --days ${days} --until ${new Date(until).toISOString()}`

const stores = setUpStores({ hasYearlyParts: true })
let seeded: SeedResult
beforeAll(async () => {
  seeded = (await svc(`seed ${shape} --json`)).json()
})

async function svc(line: string) {
  const env = { DATABASE_URL: stores.databaseUrl, CLICKHOUSE_URL: stores.clickhouseUrl, DATA_DIR: stores.dataDir }
  const { code, out, err } = await runSvc(line.split(' '), env)
  return { code, err, json: () => JSON.parse(out) as SeedResult }
}

const idsOf = ({ workspaces }: SeedResult) => workspaces.map((made) => made.workspace_id)

async function ask<Row>(
  sql: string,
  ids: readonly number[] = idsOf(seeded),
  params: Record<string, number> = {},
): Promise<Row[]> {
  const ours = 'WITH ours AS (SELECT *, arrived_at FROM events WHERE workspace_id IN {ids:Array(UInt32)})'
  return stores.ch.query<Row>(`${ours} ${sql}`, { ids, ...params })
}

/** The same for the same rows, in which workspace ever; ids count from the first. */
async function digestOf(ids: readonly number[]): Promise<string> {
  const others = eventColumns
    .map(({ name }) => (name === 'received_at' ? 'arrived_at' : name))
    .filter((name) => name !== 'id' && name !== 'workspace_id')
  const [row] = await ask<{ digest: string }>(
    `SELECT toString(groupBitXor(cityHash64(id - first, indexOf([${ids}], workspace_id), ${others}))) AS digest
     FROM (SELECT *, (SELECT min(id) FROM ours) AS first FROM ours)`,
    ids,
  )
  return row!.digest
}

describe('svc seed', () => {
  test('makes as many events as were asked for, half of them in the first workspace, the others in falling shares', async () => {
    const counts = await ask<{ id: number; count: number }>(
      'SELECT workspace_id AS id, count() AS count FROM ours GROUP BY id ORDER BY id',
    )
    expect(counts.map(({ count }) => count)).toEqual([5000, 3333, 1667])
    expect(counts.map(({ id }) => id)).toEqual(idsOf(seeded))
    expect(seeded.workspaces.map(({ events }) => events)).toEqual([5000, 3333, 1667])
  })

  test('gives ids of one lease, each once, growing with the time of receipt, and marks the lease as shipped to its end', async () => {
    const [lease] = await stores.pg.query<{ first: number; through: number; is_seed: boolean }>(
      `SELECT first_segment AS first, shipped_through AS through, is_seed FROM segment_leases_taken
       ORDER BY first_segment LIMIT 1`,
    )
    const end = (lease!.first + segmentLeaseSize) * segmentRowsMax
    expect(lease).toMatchObject({ through: end - 1, is_seed: true })
    const [ids] = await ask<Record<string, number>>(
      `SELECT uniqExact(id) AS distinct, countIf(id < {first:UInt64} OR id >= {end:UInt64}) AS outside,
         groupArray(arrived_at) AS times, arraySort(times) = times AS grow
       FROM (SELECT * FROM ours ORDER BY id)`,
      idsOf(seeded),
      { first: lease!.first * segmentRowsMax, end },
    )
    expect(ids).toMatchObject({ distinct: 10_000, outside: 0, grow: 1 })
  })

  test('fills the columns as ingest would have filled them for the same event', async () => {
    const rows = await ask<Record<string, never>>('SELECT * FROM ours WHERE cityHash64(id) % 4 = 0')
    expect(rows.length).toBeGreaterThan(2_000)
    // All but hashes and what the moment, the address and the user agent say.
    const own = ['id', 'workspace_id', 'occurred_at', 'received_at', 'visitor', 'session', 'email_hash']
    const ofSender = ['device', 'browser', 'os', 'country', 'region', 'region_name', 'city']
    const same = eventColumns.map(({ name }) => name).filter((name) => ![...own, ...ofSender].includes(name))
    for (const row of rows) {
      const made = rowOf(eventOf(row))
      const expected = { ...made, kind: nameOf(kinds, made.kind), event_type: nameOf(eventTypes, made.event_type) }
      expect({ ...row, metric: vitalNumber(row['metric']!) }).toMatchObject(
        Object.fromEntries(same.map((name) => [name, expected[name]])),
      )
      expect(row['email_hash'] === 0).toBe(made.email_hash.hi === 0 && made.email_hash.lo === 0)
      expect(row['visitor'] === 0).toBe(made.visitor.hi === 0 && made.visitor.lo === 0)
    }
  })

  test('gives client event ids to the newest events, or to all', async () => {
    const count = (result: SeedResult) =>
      ask<{ newest: number; older: number; distinct: number }>(
        `SELECT countIf(client_event_id != '' AND toUnixTimestamp64Milli(occurred_at) >= {since:Int64}) AS newest,
           countIf(client_event_id != '') - newest AS older,
           uniqExactIf(client_event_id, client_event_id != '') AS distinct
         FROM ours`,
        idsOf(result),
        { since: until - 2 * 86_400_000 },
      )
    const [newest] = await count(seeded)
    expect(newest!.newest).toBeGreaterThan(500)
    expect(newest).toMatchObject({ older: 0, distinct: newest!.newest })
    const [all] = await count((await svc(`seed ${shape} --client-event-ids all --json`)).json())
    expect(all).toMatchObject({ newest: newest!.newest, older: 10_000 - newest!.newest, distinct: 10_000 })
  })

  test('makes the same events of the same seed, and others of another', async () => {
    const digests: string[] = []
    for (const more of ['', '', ' --seed 2']) {
      digests.push(await digestOf(idsOf((await svc(`seed ${shape.replace('10000', '1000')}${more} --json`)).json())))
    }
    expect(digests[1]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
  })

  test('makes workspaces that are audited, and whose keys read an overview with all their events', async () => {
    await foldAll(stores)
    const api = await startApi(stores)
    try {
      for (const { api_key, events } of seeded.workspaces) {
        const answer = await api.ask(`/v1/analytics/overview?days=${days + 2}`, { key: api_key })
        const { metrics } = (await answer.json()) as { metrics: Record<string, number> }
        expect(metrics).toMatchObject({ events })
        expect(metrics['bounce_rate']).toBeGreaterThan(1)
        expect(metrics['conversion_rate']).toBeGreaterThan(0)
        const audited = await api.ask('/v1/audit-log', { key: api_key })
        const actions = ((await audited.json()) as { action: string }[]).map(({ action }) => action)
        expect(actions).toEqual(['api_key.create', 'workspace.create'])
      }
    } finally {
      await api.close()
    }
  })

  test('raises the owner’s plan for days that it can’t read, and never lowers it', async () => {
    const plan = async () => {
      const [owner] = await stores.pg.query<{ plan_key: string }>('SELECT plan_key FROM owners ORDER BY id LIMIT 1')
      return owner!.plan_key
    }
    expect(await plan()).toBe('growth')
    await svc('seed --events 500 --days 200')
    expect(await plan()).toBe('scale')
    await svc('seed --events 500 --days 20')
    expect(await plan()).toBe('scale')
    const owners = await stores.pg.query('SELECT 1 FROM owners')
    expect(owners).toHaveLength(1)
  })

  test('refuses what is beyond its bounds with exit code 2, naming the option, and makes nothing', async () => {
    const count = async () => (await stores.pg.query('SELECT 1 FROM workspaces')).length
    const before = await count()
    for (const [line, named] of [
      ['', '--events is required'],
      ['--events 500000001', '--events'],
      ['--events 30000000 --days 1', '--events must be at most 20000000 for each of --days'],
      ['--events 10 --workspaces 1001', '--workspaces'],
      ['--events 10 --days 731', '--days'],
      ['--events 10 --workspaces 2 --largest-share 1.1', '--largest-share must be'],
      ['--events 10 --largest-share 0.9', '--largest-share goes with --workspaces'],
      ['--events 10 --until 2200-01-01T00:00:00Z', '--until'],
      ['--events 10 --client-event-ids some', '--client-event-ids'],
    ] as const) {
      const result = await svc(`seed${line && ` ${line}`}`)
      expect([line, result]).toEqual([line, expect.objectContaining({ code: 2, err: expect.stringContaining(named) })])
    }
    expect(await count()).toBe(before)
  })
})

/** The event that the sender of such a row would have sent. */
function eventOf(row: Record<string, never>): Partial<TrackEvent> {
  const text = (name: string) => row[name] || undefined
  return {
    event_name: row['event_name']!,
    event_type: row['event_type']!,
    ...(row['email_hash'] !== 0 && { email: 'somebody@example.com' }),
    anonymous_id: text('anonymous_id'),
    session_id: row['session_named'] ? 'a session' : undefined,
    client_event_id: text('client_event_id'),
    url: text('url'),
    title: text('title'),
    referrer: text('referrer'),
    language: text('language'),
    timezone: text('timezone'),
    screen_width: row['screen_width'] || undefined,
    properties: row['properties'] ? JSON.parse(row['properties']) : undefined,
  }
}

function nameOf(numbers: Readonly<Record<string, number>>, number: number): string {
  return Object.entries(numbers).find(([, each]) => each === number)![0]
}

function vitalNumber(name: string): number {
  return ['none', 'FCP', 'LCP', 'INP', 'CLS'].indexOf(name)
}
