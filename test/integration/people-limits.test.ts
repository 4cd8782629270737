/** The cost of one browser that goes from one contact to another without an end, as a server's constant id does. */
import { beforeEach, expect, test } from 'vitest'
import { mergeInbox } from '../../pipeline/people/merge.ts'
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import { makeLog } from '../../runtime/log.ts'
import {
  bindingPeriodsPerBrowserMax,
  browsersKnownPerContactMax,
  browsersPerContactMax,
} from '../../schemas/limits/people-limits.ts'
import { makeWorkspace } from '../support/api.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const log = makeLog('test', 'silent')
let workspaceId: number
let shipments = 0
beforeEach(async () => {
  workspaceId = (await makeWorkspace(stores)).workspaceId
})

interface Identify {
  readonly at: number
  readonly email: string
  readonly browser: string
}

async function ship(events: readonly Identify[]): Promise<void> {
  shipments += 1
  const rows = events.map(({ at, email, browser }) =>
    makeInboxRow({
      event_id: shipments * 10_000 + at,
      workspace_id: workspaceId,
      email,
      anonymous_id: browser,
      occurred_at: 1_000_000 + at,
      received_at: 2_000_000,
    }),
  )
  await stores.pg.transaction((tx) => insertInbox(tx, shipments, rows))
}

/** Even moments are Ann's, odd ones Ben's. */
const alternating = (moments: readonly number[]) =>
  moments.map((at) => ({ at, email: at % 2 === 0 ? 'ann@example.com' : 'ben@example.com', browser: 'server' }))

const merge = () => mergeInbox({ pg: stores.pg, hashes: stores.hashes, log, now: 3_000_000, rowsMax: 250 })
const count = async (table: string) => {
  const [row] = await stores.pg.query<{ count: number }>(`SELECT count(*) FROM ${table} WHERE workspace_id = $1`, [
    workspaceId,
  ])
  return row!.count
}
const bindings = () =>
  stores.pg.query<{ at: number; email: string }>(
    `SELECT from_at AS at, email FROM bindings JOIN contacts ON contacts.id = contact_id WHERE bindings.workspace_id = $1
     ORDER BY from_at`,
    [workspaceId],
  )
const numbers = (from: number, end: number) => Array.from({ length: end - from }, (_, nth) => from + nth)

// property/people.test.ts has those that come late, under lower limits.
test('a browser has its first binding periods, and each merge queues a contact once', async () => {
  await ship(alternating(numbers(500, 1_000)))
  await merge()
  // Two contacts and the browser.
  expect(await count('people_work')).toBe(3)
  await merge()
  expect(await count('people_work')).toBe(5)
  const bound = await bindings()
  expect([bound.length, await count('identity_facts')]).toEqual([
    bindingPeriodsPerBrowserMax,
    bindingPeriodsPerBrowserMax,
  ])
  expect(bound.slice(0, 2)).toEqual([
    { at: 0, email: 'ann@example.com' },
    { at: 1_000_501, email: 'ben@example.com' },
  ])
  expect(bound.at(-1)).toEqual({ at: 1_000_499 + bindingPeriodsPerBrowserMax, email: 'ben@example.com' })
})

test('a contact that loses a browser by it binds the next one of its own', async () => {
  const others = numbers(1, browsersPerContactMax).map((nth) => ({
    at: 100 + nth,
    email: 'ann@example.com',
    browser: `b${nth}`,
  }))
  const limits = { periodsMax: 2, factsMax: 10 }
  const mergeAll = () => mergeInbox({ pg: stores.pg, hashes: stores.hashes, log, now: 3_000_000, limits })
  await ship([
    { at: 1, email: 'zoe@example.com', browser: 'shared' },
    { at: 10, email: 'ann@example.com', browser: 'shared' },
    ...others,
    { at: 900, email: 'ann@example.com', browser: 'last' },
  ])
  await mergeAll()
  const ofAnn = async () => {
    const rows = await stores.pg.query<{ browser: string }>(
      `SELECT anonymous_id AS browser FROM bindings JOIN contacts ON contacts.id = contact_id
       WHERE bindings.workspace_id = $1 AND email = 'ann@example.com'`,
      [workspaceId],
    )
    return rows.map(({ browser }) => browser).sort()
  }
  const names = others.map(({ browser }) => browser)
  expect(await ofAnn()).toEqual(['shared', ...names].sort())
  await ship([{ at: 5, email: 'cat@example.com', browser: 'shared' }])
  await mergeAll()
  expect(await ofAnn()).toEqual(['last', ...names].sort())
})

test('an e-mail that is on ever more browsers has facts on its first ones', async () => {
  const on = (from: number, end: number) =>
    numbers(from, end).map((nth) => ({ at: nth, email: 'ann@example.com', browser: `b${nth}` }))
  await ship(on(10, browsersKnownPerContactMax + 10))
  while ((await merge()) > 0);
  await ship(on(browsersKnownPerContactMax + 10, browsersKnownPerContactMax + 60))
  await merge()
  // An earlier one takes the place of the last.
  await ship(on(1, 2))
  await merge()
  expect(await count('identity_facts')).toBe(browsersKnownPerContactMax)
  expect(await count('bindings')).toBe(browsersPerContactMax)
})
