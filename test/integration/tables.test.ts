import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPostgres, type Postgres } from '../../postgres/client.ts'
import { createApiKey, findApiKey, touchApiKey } from '../../postgres/tables/api-keys.ts'
import { countNewContacts, deleteOldSightings } from '../../postgres/tables/contact-sightings.ts'
import { deleteOldInbox, type InboxRow, insertInbox } from '../../postgres/tables/inbox.ts'
import { readOrMakeSalt } from '../../postgres/tables/salts.ts'
import { leaseSegments, raiseLeases } from '../../postgres/tables/segment-leases.ts'
import { createTrackingKey, findTrackingKey, listTrackingKeys } from '../../postgres/tables/tracking-keys.ts'
import { createWorkspace, listWorkspaces, readWorkspace } from '../../postgres/tables/workspaces.ts'
import { sha256Of } from '../../schemas/keys.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let pg: Postgres
/** Another node's connections. */
let other: Postgres

beforeAll(async () => {
  pg = stores.pg
  other = connectPostgres(stores.databaseUrl)
})
afterAll(() => other?.close())

const make = (name: string, ownerEmail?: string) =>
  pg.transaction((tx) => createWorkspace(tx, { name, timezone: 'UTC', plan: 'growth', ownerEmail }))

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
  const row = (event_id: number, more: Partial<InboxRow> = {}): InboxRow => ({
    event_id,
    workspace_id: 77,
    event_type: 'identify',
    event_name: 'identify',
    email: `a${event_id}@example.com`,
    anonymous_id: '',
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

  test('counts an e-mail as new where its first event lies, the start counting and the end not', async () => {
    const at = (event_id: number, email: string | null, occurred_at: number, workspace_id = 78) =>
      row(event_id, { email, occurred_at, workspace_id })
    await pg.transaction((tx) =>
      insertInbox(tx, 9, [
        at(9001, 'a@x.test', 1000),
        at(9002, 'a@x.test', 2000),
        at(9003, 'b@x.test', 2000),
        at(9004, 'b@x.test', 2500),
        at(9005, 'c@x.test', 3000),
        at(9006, null, 2100),
        at(9007, 'd@x.test', 2100, 79),
      ]),
    )
    expect(await countNewContacts(pg, 78, 2000, 3000)).toBe(1)
    expect(await countNewContacts(pg, 78, 2000, 3001)).toBe(2)
    expect(await countNewContacts(pg, 78, 1000, 2000)).toBe(1)
    expect(await countNewContacts(pg, 78, 4000, 5000)).toBe(0)
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
    // Of this one nothing is held any more.
    await see(10_004, 'leaves@x.test', 4000)
    expect(await countNewContacts(pg, 80, 2000, 9000)).toBe(1)
    // What arrives late may lie before all that was known.
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

describe('workspaces and keys', () => {
  test('one address is one owner, and each workspace has its member', async () => {
    const first = await make('One', 'Ada@example.com')
    const second = await make('Two', 'ada@example.com')
    expect(second.ownerId).toBe(first.ownerId)
    expect((await make('Three')).ownerId).not.toBe(first.ownerId)
    const members = await pg.query('SELECT owner_id FROM members WHERE workspace_id = $1', [second.workspaceId])
    expect(members).toEqual([{ owner_id: first.ownerId }])
    expect(await readWorkspace(pg, second.workspaceId)).toMatchObject({
      name: 'Two',
      plan_key: 'growth',
      currency: 'USD',
    })
    expect(await readWorkspace(pg, 999_999)).toBeNull()
    expect((await listWorkspaces(pg)).map(({ slug }) => slug)).toEqual(['one', 'two', 'three'])
  })

  test('workspaces of one name that are made at once get slugs of their own, or one is refused', async () => {
    const made = await Promise.allSettled(Array.from({ length: 5 }, () => make('Same name')))
    const slugs = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value.slug] : []))
    expect(slugs.length).toBeGreaterThan(0)
    expect(new Set(slugs).size).toBe(slugs.length)
  })

  test('a key is found until the moment it expires', async () => {
    const { workspaceId } = await make('Expiring')
    const expiresAt = new Date('2035-01-01T00:00:00Z')
    const { apiKey, id } = (await createApiKey(pg, { workspaceId, name: 'k', scopes: [], expiresAt }))!
    const before = new Date(expiresAt.getTime() - 1)
    expect(await findApiKey(pg, sha256Of(apiKey), before)).toMatchObject({ id, expiresAt })
    expect(await findApiKey(pg, sha256Of(apiKey), expiresAt)).toBeNull()
  })

  test('the use of a key is noted at most once a minute, and wakes nobody who listens for changed keys', async () => {
    const { workspaceId } = await make('Used')
    const { apiKey, id } = (await createApiKey(pg, { workspaceId, name: 'k', scopes: [] }))!
    let notified = 0
    let isListening: () => void
    const listening = new Promise<void>((resolve) => {
      isListening = resolve
    })
    const listener = pg.listen(
      'keys_changed',
      () => notified++,
      () => isListening(),
    )
    await listening
    const usedAt = async () =>
      (await pg.query<{ last_used_at: Date }>('SELECT last_used_at FROM api_keys WHERE id = $1', [id]))[0]!.last_used_at
    await touchApiKey(pg, id)
    const first = await usedAt()
    await touchApiKey(pg, id)
    expect(await usedAt()).toEqual(first)
    await pg.query(`UPDATE api_keys SET last_used_at = last_used_at - interval '61 seconds' WHERE id = $1`, [id])
    await touchApiKey(pg, id)
    expect((await usedAt()).getTime()).toBeGreaterThanOrEqual(first.getTime())
    await pg.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id])
    while (notified === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(notified).toBe(1)
    await listener.close()
    expect(await findApiKey(pg, sha256Of(apiKey), new Date())).toBeNull()
  })

  test('a tracking key that was rotated is known until it retires', async () => {
    const { workspaceId } = await make('Tracked')
    const [old, gone, current] = [
      await createTrackingKey(pg, workspaceId),
      await createTrackingKey(pg, workspaceId),
      await createTrackingKey(pg, workspaceId),
    ]
    await pg.query(`UPDATE tracking_keys SET retires_at = now() + interval '1 day' WHERE key = $1`, [old])
    await pg.query(`UPDATE tracking_keys SET retires_at = now() WHERE key = $1`, [gone])
    const listed = (await listTrackingKeys(pg)).filter((key) => key.workspace_id === workspaceId)
    expect(listed.map(({ key, retires_at }) => [key, retires_at !== null])).toEqual([
      [old, true],
      [current, false],
    ])
    expect(await findTrackingKey(pg, old)).toMatchObject({ workspace_id: workspaceId, timezone: 'UTC' })
    expect(await findTrackingKey(pg, gone)).toBeNull()
  })
})
