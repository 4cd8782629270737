/** Merges that fail: with fewer rows they go on, and a row that can't be merged in time holds up nobody. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeMerges, mergeJob } from '../../pipeline/people/merger.ts'
import { connectPostgres, type Postgres } from '../../postgres/client.ts'
import { askForRetry, listSetAsideJobs } from '../../postgres/tables/operation/set-aside-jobs.ts'
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import { systemClock } from '../../runtime/clock.ts'
import { makeLog } from '../../runtime/log.ts'
import { makeWorkspace } from '../support/api.ts'
import { makeInboxRow } from '../support/inbox-rows.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let hasty: Postgres
beforeAll(async () => {
  hasty = connectPostgres(stores.databaseUrl, { deadlineMs: 4_000 })
  // Facts take as many milliseconds as their browser says.
  await stores.pg.query(`
    CREATE FUNCTION be_slow() RETURNS trigger AS $$
      BEGIN PERFORM pg_sleep(NEW.anonymous_id::float8 / 1000); RETURN NEW; END $$ LANGUAGE plpgsql;
    CREATE TRIGGER be_slow BEFORE INSERT ON identity_facts FOR EACH ROW EXECUTE FUNCTION be_slow()`)
})
afterAll(() => hasty?.close())

let shipments = 0
async function ship(workspaceId: number, browsers: readonly string[]): Promise<void> {
  shipments += 1
  const rows = browsers.map((anonymous_id, nth) =>
    makeInboxRow({
      event_id: shipments * 100 + nth,
      workspace_id: workspaceId,
      email: `p${shipments}-${nth}@example.com`,
      anonymous_id,
      occurred_at: 1_000_000 + nth,
      received_at: 2_000_000,
    }),
  )
  await stores.pg.transaction((tx) => insertInbox(tx, shipments, rows))
}

const namesOf = async (workspaceId: number) => {
  const rows = await stores.pg.query<{ email: string }>(
    'SELECT email FROM contacts WHERE workspace_id = $1 ORDER BY email',
    [workspaceId],
  )
  return rows.map(({ email }) => email.split('@')[0])
}

/** @returns how many merges failed before one found nothing left */
async function mergeAll(rowsMax = 8): Promise<number> {
  const log = makeLog('test', 'silent')
  const next = makeMerges({ pg: hasty, hashes: stores.hashes, clock: systemClock, log }, rowsMax)
  const isWaiting = async () => (await stores.pg.query('SELECT 1 FROM inbox WHERE NOT is_merged')).length > 0
  let failures = 0
  while (failures < 20 && (await isWaiting())) await next().catch(() => failures++)
  return failures
}

test('a workspace with very many rows holds up no other’s', async () => {
  const [busy, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  await ship(busy.workspaceId, Array(20).fill('1'))
  await ship(other.workspaceId, ['1'])
  await makeMerges({ pg: hasty, hashes: stores.hashes, clock: systemClock, log: makeLog('test', 'silent') }, 4)()
  // Half each, and what is left of it.
  expect([(await namesOf(busy.workspaceId)).length, (await namesOf(other.workspaceId)).length]).toEqual([3, 1])
  await mergeAll()
})

test('rows that are too many for one transaction are merged in smaller ones', async () => {
  // More than four facts at once take longer than the deadline, however fast the machine is.
  await stores.pg.query(`
    CREATE FUNCTION be_slow_with_many() RETURNS trigger AS $$
      BEGIN IF (SELECT count(*) FROM added) > 4 THEN PERFORM pg_sleep(20); END IF; RETURN NULL; END $$ LANGUAGE plpgsql;
    CREATE TRIGGER be_slow_with_many AFTER INSERT ON identity_facts REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION be_slow_with_many()`)
  const { workspaceId } = await makeWorkspace(stores)
  await ship(workspaceId, Array(8).fill('1'))
  expect(await mergeAll()).toBe(1)
  expect(await namesOf(workspaceId)).toHaveLength(8)
  await stores.pg.query('DROP TRIGGER be_slow_with_many ON identity_facts')
})

test('a row that passes the deadline alone is set aside, the others go on, and a retry merges it', async () => {
  const [{ workspaceId }, other] = [await makeWorkspace(stores), await makeWorkspace(stores)]
  await ship(workspaceId, ['1', '20000', '2'])
  await ship(other.workspaceId, ['1'])
  // Tries two rows, and one three times.
  expect(await mergeAll(2)).toBeLessThan(6)
  expect(await namesOf(workspaceId)).toEqual([`p${shipments - 1}-0`, `p${shipments - 1}-2`])
  expect(await namesOf(other.workspaceId)).toHaveLength(1)
  const [job, ...more] = await listSetAsideJobs(stores.pg, 2)
  expect([job!.job, job!.subject, more]).toEqual([mergeJob, `event_${(shipments - 1) * 100 + 1}`, []])

  await stores.pg.query('DROP TRIGGER be_slow ON identity_facts')
  await askForRetry(stores.pg, job!.id)
  await makeMerges({ pg: hasty, hashes: stores.hashes, clock: systemClock, log: makeLog('test', 'silent') })()
  expect(await namesOf(workspaceId)).toHaveLength(3)
  expect(await listSetAsideJobs(stores.pg, 2)).toEqual([])
})
