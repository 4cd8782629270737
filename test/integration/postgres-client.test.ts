import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectPostgres } from '../../postgres/client.ts'
import { StoreUnavailable } from '../../runtime/store-error.ts'
import { freePort } from '../../start/stores/store.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
  await stores.pg.query('CREATE TABLE things (id bigint PRIMARY KEY, day date)')
})
afterAll(() => stores?.close())

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

test('ends a statement at its deadline, and the next one has its own again', async () => {
  const slow = stores.pg.query('SELECT pg_sleep(20)', [], { deadlineMs: 200 })
  await expect(slow).rejects.toBeInstanceOf(StoreUnavailable)
  const one = connectPostgres(stores.databaseUrl, { max: 1 })
  await one.query('SELECT 1', [], { deadlineMs: 200 })
  await one.query('SELECT pg_sleep(0.5)')
  await one.close()
})

test('answers as a store that is away when its connections are cut, and then works again', async () => {
  const [slow] = await Promise.allSettled([
    stores.pg.query('SELECT pg_sleep(4)'),
    wait(200).then(() =>
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
  await expect.poll(() => listened, { timeout: 5_000 }).toBe(2)
  await stores.pg.query("SELECT pg_notify('things_changed', 'second')")
  await expect.poll(() => heard).toEqual(['first', 'second'])
  await listener.close()
})
