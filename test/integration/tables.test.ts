import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Postgres } from '../../postgres/client.ts'
import { readOrMakeSalt } from '../../postgres/tables/operation/salts.ts'
import { leaseSegments, raiseLeases } from '../../postgres/tables/operation/segment-leases.ts'
import { countNewContacts, deleteOldSightings } from '../../postgres/tables/people/contact-sightings.ts'
import { deleteOldInbox, type InboxRow, insertInbox } from '../../postgres/tables/people/inbox.ts'
import { createWorkspace, readWorkspace } from '../../postgres/tables/workspaces/workspaces.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { patientPostgres } from '../support/patient-clients.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let pg: Postgres
/** Another node's connections. */
let other: Postgres

beforeAll(async () => {
  pg = stores.pg
  other = patientPostgres(stores.databaseUrl)
})
afterAll(() => other?.close())

const make = (name: string) => pg.transaction((tx) => createWorkspace(tx, { name, timezone: 'UTC', plan: 'growth' }))

describe('segment leases', () => {
  const size = 1000

  test('never give a number twice, to however many nodes at once', async () => {
    const firsts = await Promise.all(Array.from({ length: 40 }, (_, at) => leaseSegments(at % 2 ? pg : other, size)))
    expect(new Set(firsts).size).toBe(40)
    for (const first of firsts) expect(first % size).toBe(0)
    expect(Math.min(...firsts)).toBeGreaterThanOrEqual(size)
  })

  test('begin above what is raised, and never go back', async () => {
    const last = await leaseSegments(pg, size)
    const above = last + 50 * size + 7
    await Promise.all([raiseLeases(pg, above, size), raiseLeases(other, above, size), leaseSegments(other, size)])
    const raised = await leaseSegments(pg, size)
    expect(raised).toBeGreaterThan(above)
    await raiseLeases(pg, 5, size)
    expect(await leaseSegments(pg, size)).toBe(raised + size)
  })

  test('end loudly where ids would no longer be exact', async () => {
    await expect(leaseSegments(pg, 2 ** 36)).rejects.toThrow(/run out/)
  })
})

test("two nodes that make a day's salt at once use the same one", async () => {
  const salts = await Promise.all(
    Array.from({ length: 20 }, (_, at) => readOrMakeSalt(at % 2 ? pg : other, '2026-11-20', randomBytes(32))),
  )
  for (const salt of salts) expect(salt).toEqual(salts[0])
  expect(await readOrMakeSalt(pg, '2026-11-21', randomBytes(32))).not.toEqual(salts[0])
})

describe('the inbox', () => {
  const row = (event_id: number, more: Partial<InboxRow> = {}): InboxRow =>
    makeInboxRow({
      event_id,
      workspace_id: 77,
      email: `a${event_id}@example.com`,
      full_name: 'Ünïcode "quoted" \\ 👋',
      properties: { a: [1, { b: null }], c: 'x\u2028y' },
      source: 's',
      medium: 'm',
      campaign: 'c',
      content: 'k',
      occurred_at: 1_700_000_000_123,
      received_at: 1_700_000_000_456,
      ...more,
    })

  test("holds a manifest's rows once, as they were, however often it is copied", async () => {
    const rows = Array.from({ length: 1203 }, (_, at) => row(at + 1, at === 5 ? { email: null } : {}))
    const copy = (manifest: number) => pg.transaction((tx) => insertInbox(tx, manifest, rows))
    const outcomes = await Promise.all([copy(1), copy(1), copy(1)])
    expect(outcomes.sort()).toEqual([false, false, true])
    expect(await copy(1)).toBe(false)
    // Settled under another manifest: the same events are there already.
    expect(await copy(2)).toBe(true)
    const stored = await pg.query<Record<string, unknown>>('SELECT * FROM inbox ORDER BY event_id')
    expect(stored).toHaveLength(1203)
    expect(stored[5]).toMatchObject({
      ...rows[5],
      occurred_at: new Date(rows[5]!.occurred_at),
      received_at: new Date(rows[5]!.received_at),
    })
  })

  test('remembers a manifest without rows, and leaves nothing when its transaction fails', async () => {
    expect(await pg.transaction((tx) => insertInbox(tx, 3, []))).toBe(true)
    expect(await pg.transaction((tx) => insertInbox(tx, 3, []))).toBe(false)
    const failing = pg.transaction(async (tx) => {
      await insertInbox(tx, 4, [row(5001)])
      throw new Error('killed here')
    })
    await expect(failing).rejects.toThrow('killed here')
    expect(await pg.transaction((tx) => insertInbox(tx, 4, [row(5001)]))).toBe(true)
  })

  test("remembers a contact's first event when its row is deleted, for as long as it is seen", async () => {
    const see = (event_id: number, email: string, occurred_at: number) =>
      pg.transaction((tx) => insertInbox(tx, event_id, [row(event_id, { email, occurred_at, workspace_id: 80 })]))
    await see(10_001, 'stays@x.test', 1000)
    await see(10_002, 'leaves@x.test', 1000)
    await see(10_003, 'stays@x.test', 3000)
    const expire = async (before: number) => {
      await deleteOldInbox(pg, 80, before, 100)
      return deleteOldSightings(pg, 80, before, 100)
    }
    expect(await countNewContacts(pg, 80, 0, 2000)).toBe(2)
    expect(await expire(2000)).toBe(1)
    expect(await pg.query('SELECT event_id FROM inbox WHERE workspace_id = 80')).toEqual([{ event_id: 10_003 }])
    expect(await countNewContacts(pg, 80, 2000, 9000)).toBe(0)
    // No sighting of this one is held any more.
    await see(10_004, 'leaves@x.test', 4000)
    expect(await countNewContacts(pg, 80, 2000, 9000)).toBe(1)
    // A late event may lie before all that was known.
    await see(10_005, 'leaves@x.test', 1500)
    expect(await countNewContacts(pg, 80, 2000, 9000)).toBe(0)
    expect(await expire(9000)).toBe(2)
    expect(await pg.query('SELECT 1 FROM contact_sightings WHERE workspace_id = 80')).toEqual([])
  })

  test('takes the same contacts from many nodes at once', async () => {
    const emails = Array.from({ length: 50 }, (_, at) => `many${at}@x.test`)
    const copy = (node: number) => {
      const mixed = node % 2 ? emails : [...emails].reverse()
      const rows = mixed.map((email, at) =>
        row(20_000 + node * 100 + at, { email, occurred_at: 5000 + node, workspace_id: 81 }),
      )
      return (node % 3 ? pg : other).transaction((tx) => insertInbox(tx, 2000 + node, rows))
    }
    expect(await Promise.all(Array.from({ length: 12 }, (_, node) => copy(node)))).not.toContain(false)
    expect(await countNewContacts(pg, 81, 5000, 5001)).toBe(50)
    expect(await countNewContacts(pg, 81, 5001, 6000)).toBe(0)
  })
})

describe('a workspace', () => {
  test('without an address has an owner of its own, also under the slug of one that is gone', async () => {
    const first = await make('Reused')
    const rename = "UPDATE workspaces SET slug = slug || '-gone' WHERE id = $1"
    await pg.query(rename, [first.workspaceId])
    const second = await pg.transaction((tx) =>
      createWorkspace(tx, { name: 'Reused', slug: first.slug, timezone: 'UTC', plan: null }),
    )
    expect(second.ownerId).not.toBe(first.ownerId)
    expect((await readWorkspace(pg, first.workspaceId))!.plan_key).toBe('growth')
  })

  test('takes the next slug where others of its name are made at once', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => make('Twins')))
    expect(made.map(({ slug }) => slug).sort()).toEqual(['twins', ...[2, 3, 4, 5, 6].map((nth) => `twins-${nth}`)])
  })
})
