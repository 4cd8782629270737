import { beforeAll, expect, test } from 'vitest'
import { connectPostgres } from '../../postgres/client.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { freePort } from '../../start/stores/store.ts'
import { setUpStores } from '../support/stores.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const stores = setUpStores()
beforeAll(() => stores.pg.query('CREATE TABLE things (id bigint PRIMARY KEY, day date)'))

test('rolls back all of a transaction that throws, and goes on with the same connections', async () => {
  for (let round = 0; round < 25; round++) {
    const work = stores.pg.transaction(async (tx) => {
      await tx.query('INSERT INTO things (id) VALUES ($1)', [1])
      throw new Error('the work says no')
    })
    await expect(work).rejects.toThrow('the work says no')
  }
  expect(await stores.pg.query('SELECT * FROM things')).toEqual([])
})

test('reads 64-bit integers as numbers and refuses those that a number cannot hold', async () => {
  await stores.pg.query('INSERT INTO things VALUES ($1, $2)', [2 ** 53 - 1, '2026-03-01'])
  expect(await stores.pg.query('SELECT * FROM things')).toEqual([{ id: 2 ** 53 - 1, day: '2026-03-01' }])
  await expect(stores.pg.query('SELECT 9007199254740993::bigint')).rejects.toThrow(/doesn't fit/)
})

test('tells a statement that is wrong from a store that is away', async () => {
  await expect(stores.pg.query('SELECT nothing')).rejects.toMatchObject({ code: '42703' })
  const away = connectPostgres(`postgres://postgres@127.0.0.1:${await freePort()}/none`)
  await expect(away.query('SELECT 1')).rejects.toBeInstanceOf(StoreUnavailable)
  expect(await away.ping()).toBe(false)
  await away.close()
})

test('a server that takes no writes is away, and its connection isn’t used again', async () => {
  const one = connectPostgres(stores.databaseUrl, { max: 1 })
  await one.query('SET default_transaction_read_only = on')
  const write = () => one.query('INSERT INTO things (id) VALUES ($1) ON CONFLICT DO NOTHING', [2])
  await expect(write()).rejects.toBeInstanceOf(StoreUnavailable)
  await write()
  await one.close()
  await stores.pg.query('DELETE FROM things WHERE id = 2')
})

test('ends a statement at its deadline, and the next one has its own again', async () => {
  const slow = stores.pg.query('SELECT pg_sleep(20)', [], { deadlineMs: 200 })
  await expect(slow).rejects.toBeInstanceOf(StoreUnavailable)
  const one = connectPostgres(stores.databaseUrl, { max: 1, deadlineMs: 60_000 })
  await one.query('SELECT 1')
  await one.query('SELECT 1', [], { deadlineMs: 3_000 })
  await one.query('SELECT pg_sleep(3.2)')
  await one.close()
})

test('answers as a store that is away when its connections are cut, and then works again', async () => {
  const asleep = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`
  const [slow] = await Promise.allSettled([
    stores.pg.query('SELECT pg_sleep(50)'),
    expect
      .poll(() => stores.pg.query(asleep))
      .toHaveLength(1)
      .then(() =>
        stores.pg.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        ),
      ),
  ])
  expect(slow).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) })
  expect(await stores.pg.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('hears notifications, and listens again after its connection is cut', async () => {
  const heard: string[] = []
  let listened = 0
  const listener = stores.pg.listen(
    'things_changed',
    (payload) => heard.push(payload),
    () => listened++,
  )
  await expect.poll(() => listened).toBe(1)
  await stores.pg.query("SELECT pg_notify('things_changed', 'first')")
  await expect.poll(() => heard).toEqual(['first'])
  await stores.pg.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc listen' AND datname = current_database()",
  )
  await expect.poll(() => listened).toBe(2)
  await stores.pg.query("SELECT pg_notify('things_changed', 'second')")
  await expect.poll(() => heard).toEqual(['first', 'second'])
  await listener.close()
})

test('a client that is gone holds no lock, though its statement would wait for minutes', async () => {
  const proxy = await startTcpProxy(stores.databaseUrl)
  const vanishing = connectPostgres(proxy.url, { deadlineMs: 120_000 })
  const [first, second] = [101, 102]
  const lock = 'SELECT pg_advisory_xact_lock($1)'
  await stores.pg.transaction(async (tx) => {
    await tx.query(lock, [first])
    const lost = vanishing.transaction(async (other) => {
      await other.query(lock, [second])
      await other.query(lock, [first])
    })
    const locks = `SELECT count(*) AS waiting FROM pg_locks WHERE locktype = 'advisory' AND objid = ${first} AND NOT granted`
    await expect.poll(() => stores.pg.query(locks)).toEqual([{ waiting: 1 }])
    await proxy.set('refusing')
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailable)
    const isFree = () => stores.pg.query('SELECT pg_try_advisory_xact_lock($1) AS free', [second])
    await expect.poll(isFree).toEqual([{ free: true }])
  })
  await vanishing.close()
  await proxy.close()
})
