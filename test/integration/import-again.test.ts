/** Imports that are killed, repeated, or begun twice: each row is stored once, whatever is still under way. */
import { beforeEach, expect, test } from 'vitest'
import { openInstallation } from '../../cli/installation.ts'
import { importEvents } from '../../cli/replay/import-events.ts'
import type { PageEvent, PageEventSource } from '../../cli/replay/page-events.ts'
import type { ClickHouse } from '../../clickhouse/client.ts'
import { type Insert, InsertFenced } from '../../clickhouse/insert.ts'
import { requestDeletion } from '../../postgres/tables/workspaces/workspace-deletions.ts'
import { readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { readConfig } from '../../runtime/config.ts'
import { importRowsMax, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { storeSettings } from '../support/command-line.ts'
import { setUpStores } from '../support/stores.ts'

const events = 500
const first = Date.now() - 5 * 86_400_000

const stores = setUpStores()
let workspaceId: number

beforeEach(async () => {
  workspaceId = (await makeWorkspace(stores)).workspaceId
})

/** Over several days, so that one insert has several parts. @param from number of the first event */
function source(count = events, spacingMs = 600_000, from = 0): PageEventSource {
  const made = Array.from({ length: count }, (_, nth) => {
    const at = from + nth
    const event: PageEvent = {
      event_name: 'pageview',
      client_event_id: `${workspaceId}-${at}`,
      url: `https://example.com/${at}`,
      anonymous_id: `v${at % 20}`,
      session_id: `s${at % 20}`,
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

async function runImport(clickhouse: ClickHouse, imported = source()) {
  const config = readConfig({ ...storeSettings(stores), DATA_DIR: stores.dataDir })
  const installation = { ...openInstallation(config), clickhouse: () => clickhouse, postgres: () => stores.pg }
  return importEvents({
    source: imported,
    installation,
    workspace: (await readWorkspace(stores.pg, workspaceId))!,
    progress: { line: () => {}, running: () => {}, ended: () => {} },
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

/** Half of it is in the other files, too. */
const overlapping = () => source(events, 600_000, events / 2)
const both = { rows: 1.5 * events, events: 1.5 * events }

/** Imports until its first insert is to be sent, which is kept. */
async function killBeforeItsInsert(): Promise<Insert> {
  let kept: Insert | undefined
  const killed: ClickHouse = {
    ...stores.ch,
    insertRows: async (insert) => {
      kept = insert
      throw new Error('killed here')
    },
  }
  await expect(runImport(killed)).rejects.toThrow('killed here')
  return kept!
}

/** Stops the first insert, or the first question for what is stored, until it may go on. */
function pauseBefore(which: 'insertRows' | 'query') {
  let reach: () => void
  let resume: () => void
  const reached = new Promise<void>((resolve) => {
    reach = resolve
  })
  const resumed = new Promise<void>((resolve) => {
    resume = resolve
  })
  const paused = async (...given: unknown[]) => {
    reach()
    await resumed
    return (stores.ch[which] as (...given: unknown[]) => Promise<never>)(...given)
  }
  return { clickhouse: { ...stores.ch, [which]: paused } as ClickHouse, reached, resume: () => resume() }
}

/** Ends the sessions that hold the locks of imports, as a restart of Postgres does. */
async function endLocks(): Promise<void> {
  const ended = await stores.pg.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'svc lock'`,
  )
  expect(ended).toHaveLength(1)
}

test('an insert of a killed import that arrives once another has its turn stores nothing, however late', async () => {
  const late = await killBeforeItsInsert()
  const refused = () => expect(stores.ch.insertRows(late)).rejects.toBeInstanceOf(InsertFenced)
  const next: ClickHouse = {
    ...stores.ch,
    killInserts: async (idsPrefix) => {
      expect(late.queryId.startsWith(idsPrefix)).toBe(true)
      await stores.ch.killInserts(idsPrefix)
      await refused()
    },
  }
  await runImport(next, overlapping())
  expect(await stored()).toEqual(once)
  await refused()
  // The killed one's own file, again.
  await runImport(stores.ch)
  expect(await stored()).toEqual(both)
})

test('a second import is refused while one runs, and stores what is left once that has ended', async () => {
  const paused = pauseBefore('insertRows')
  const running = runImport(paused.clickhouse)
  await paused.reached
  await expect(runImport(stores.ch, overlapping())).rejects.toThrow(
    `another import of workspace ${workspaceId} is running`,
  )
  paused.resume()
  await running
  expect(await stored()).toEqual(once)
  expect(await runImport(stores.ch, overlapping())).toMatchObject({ deduplicated: events / 2 })
  expect(await stored()).toEqual(both)
})

test('an import whose lock is lost goes on if no other has begun, and stores nothing any more if one has', async () => {
  const alone = pauseBefore('query')
  const going = runImport(alone.clickhouse)
  await alone.reached
  await endLocks()
  alone.resume()
  await going
  expect(await stored()).toEqual(once)

  const overtaken = pauseBefore('insertRows')
  const stale = runImport(overtaken.clickhouse, source(events, 600_000, 2 * events))
  await overtaken.reached
  await endLocks()
  await runImport(stores.ch, source(events, 600_000, 2.5 * events))
  overtaken.resume()
  await expect(stale).rejects.toThrow(`another import of workspace ${workspaceId} has begun`)
  expect(await stored()).toEqual({ rows: 2 * events, events: 2 * events })
})

test('an import whose workspace is deleted meanwhile ends, and stores nothing more', async () => {
  const deleting: ClickHouse = {
    ...stores.ch,
    insertRows: async (insert) => {
      await stores.ch.insertRows(insert)
      await stores.pg.transaction((tx) => requestDeletion(tx, workspaceId))
    },
  }
  await expect(runImport(deleting, source(importRowsMax + events, 10_000))).rejects.toThrow('was deleted meanwhile')
  expect((await stored()).rows).toBe(importRowsMax)
})

/** By lease, in the order in which they were taken. */
async function marks(): Promise<{ first_segment: number; end_segment: number; shipped_through: number }[]> {
  return stores.pg.query('SELECT * FROM segment_leases_taken ORDER BY first_segment')
}

test('its mark follows what is stored, stays behind what a killed one may have sent, and is the lease’s end at last', async () => {
  const many = importRowsMax + events
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
  expect(row).toEqual({ below: importRowsMax, above: events })
  await runImport(stores.ch, source(many, 10_000))
  expect(await stored()).toEqual({ rows: many, events: many })
  const [before, last] = (await marks()).slice(-2)
  // The rows that the killed one could say nothing of.
  expect(before).toMatchObject({ shipped_through: killed.shipped_through + events })
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
