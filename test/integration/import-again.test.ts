/** An import that was killed, is repeated, or runs twice at once: each row is stored once, whatever is still under way. */
import { beforeEach, expect, test } from 'vitest'
import { openInstallation } from '../../cli/installation.ts'
import { importEvents } from '../../cli/replay/import-events.ts'
import type { PageEvent, PageEventSource } from '../../cli/replay/page-events.ts'
import type { ClickHouse, Insert } from '../../clickhouse/client.ts'
import { createWorkspace, readWorkspace } from '../../postgres/tables/workspaces.ts'
import { readConfig } from '../../runtime/config.ts'
import { importRowsMax, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { setUpStores } from '../support/stores.ts'

const events = 500
const first = Date.now() - 5 * 86_400_000

const stores = setUpStores()
let workspaceId: number

beforeEach(async () => {
  const made = await stores.pg.transaction((tx) =>
    createWorkspace(tx, { name: 'Imported', timezone: 'UTC', plan: 'growth' }),
  )
  workspaceId = made.workspaceId
})

/** Over several days, so that one insert has several parts. */
function source(count = events, spacingMs = 600_000): PageEventSource {
  const made = Array.from({ length: count }, (_, at) => {
    const event: PageEvent = {
      ...{ event_name: 'pageview', client_event_id: `${workspaceId}-${at}`, url: `https://example.com/${at}` },
      ...{ anonymous_id: `v${at % 20}`, session_id: `s${at % 20}` },
      occurred_at: new Date(first + at * spacingMs).toISOString(),
    }
    return { event, logTime: first, address: '' }
  })
  return {
    async *events() {
      yield made
    },
  } as PageEventSource
}

async function runImport(clickhouse: ClickHouse, of = source()) {
  const config = readConfig({
    DATABASE_URL: stores.databaseUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    SECRET_KEY: stores.secretKey,
    DATA_DIR: stores.dataDir,
  })
  const installation = { ...openInstallation(config), clickhouse: () => clickhouse, postgres: () => stores.pg }
  return importEvents({
    source: of,
    installation,
    workspace: (await readWorkspace(stores.pg, workspaceId))!,
    progress: { line: () => {}, running: () => {} },
    signal: new AbortController().signal,
    showProgress: () => {},
  })
}

async function stored(): Promise<{ rows: number; events: number }> {
  const [row] = await stores.ch.query<{ rows: number; events: number }>(
    'SELECT count() AS rows, uniqExact(client_event_id) AS events FROM events WHERE workspace_id = {workspaceId:UInt32}',
    { workspaceId },
  )
  return row!
}

const once = { rows: events, events }

test('an insert that a killed import left running is ended before the next one asks what is stored', async () => {
  const underWay = new Map<string, Insert>()
  const killed: ClickHouse = {
    ...stores.ch,
    insertRows: async (insert) => {
      underWay.set(insert.queryId, insert)
      throw new Error('killed here')
    },
  }
  await expect(runImport(killed)).rejects.toThrow('killed here')
  expect(underWay.size).toBe(1)
  const next: ClickHouse = {
    ...stores.ch,
    // The worst moment: it comes to its end just before it would have been ended.
    killInsert: async (queryId) => {
      const insert = underWay.get(queryId)
      underWay.delete(queryId)
      if (insert) await stores.ch.insertRows(insert)
      await stores.ch.killInsert(queryId)
    },
  }
  // The log has grown meanwhile.
  await runImport(next, source(events + 10))
  for (const insert of underWay.values()) await stores.ch.insertRows(insert)
  expect(await stored()).toEqual({ rows: events + 10, events: events + 10 })
})

test('two imports of a file at once, neither of which sees what the other is about to store', async () => {
  let asked = 0
  let bothHaveAsked: () => void
  const both = new Promise<void>((resolve) => {
    bothHaveAsked = resolve
  })
  const inStep: ClickHouse = {
    ...stores.ch,
    query: async (sql, params, options) => {
      const rows = await stores.ch.query(sql, params, options)
      if (!sql.includes('client_event_id IN')) return rows as never
      if (++asked === 2) bothHaveAsked()
      await both
      return rows as never
    },
  }
  await Promise.all([runImport(inStep), runImport(inStep)])
  expect(await stored()).toEqual(once)
})

/** By lease, in the order in which they were taken. */
async function marks(): Promise<{ first_segment: number; end_segment: number; shipped_through: number }[]> {
  return stores.pg.query('SELECT * FROM segment_leases_taken ORDER BY first_segment')
}

test('its mark follows what is stored, stays behind what a killed one may have sent, and is the lease’s end at last', async () => {
  const many = 2 * importRowsMax + events
  let inserts = 0
  const dying: ClickHouse = {
    ...stores.ch,
    insertRows: async (insert) => {
      await stores.ch.insertRows(insert)
      if (++inserts === 2) throw new Error('killed here')
    },
  }
  await expect(runImport(dying, source(many, 10_000))).rejects.toThrow('killed here')
  const killed = (await marks()).at(-1)!
  const [row] = await stores.ch.query<{ below: number; above: number }>(
    `SELECT countIf(id <= {mark:UInt64}) AS below, countIf(id > {mark:UInt64}) AS above FROM events
     WHERE workspace_id = {workspaceId:UInt32}`,
    { mark: killed.shipped_through, workspaceId },
  )
  expect(row).toEqual({ below: importRowsMax, above: importRowsMax })
  await runImport(stores.ch, source(many, 10_000))
  expect(await stored()).toEqual({ rows: many, events: many })
  const [before, last] = (await marks()).slice(-2)
  // The rows that the killed one could say nothing of.
  expect(before).toMatchObject({ shipped_through: killed.shipped_through + importRowsMax })
  expect(last).toMatchObject({ shipped_through: last!.end_segment * segmentRowsMax - 1 })
})

test('a repeat changes nothing, and one after all was deleted stores all again', async () => {
  await runImport(stores.ch)
  expect(await runImport(stores.ch)).toMatchObject({ accepted: events, deduplicated: events })
  expect(await stored()).toEqual(once)
  await stores.ch.command(
    'ALTER TABLE events DELETE WHERE workspace_id = {workspaceId:UInt32} SETTINGS mutations_sync = 1',
    { workspaceId },
  )
  expect(await stored()).toEqual({ rows: 0, events: 0 })
  // The table still remembers the first insert's token: it may not be what says that the rows are there.
  await runImport(stores.ch)
  expect(await stored()).toEqual(once)
})
