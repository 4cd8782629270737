/** The aggregate tables: what raw rows add to them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contributedColumns, contributionsSql } from '../../clickhouse/aggregates/contributions.ts'
import { idMax } from '../../clickhouse/aggregates/id-ranges.ts'
import type { RowScope } from '../../clickhouse/aggregates/row-scope.ts'
import { type AggregateName, aggregateTables } from '../../clickhouse/aggregates/tables.ts'
import { insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { freshStores, type TestStores } from '../support/stores.ts'

let stores: TestStores
beforeAll(async () => {
  stores = await freshStores()
})
afterAll(() => stores.close())

const names = Object.keys(aggregateTables) as AggregateName[]
const hour = Date.parse('2026-11-20T12:00:00Z') / 3_600_000

test.each(names)('%s takes what raw rows add to it, from scratch and as a difference', async (name) => {
  await insertEventRows(stores.ch, [
    makeEventRow({ source: 'google', medium: 'organic' }),
    makeEventRow({ kind: 'conversion', occurred_at: '2026-11-20T12:05:00Z' }),
    makeEventRow({ kind: 'web_vital', metric: 'LCP', metric_value: 2501 }),
  ])
  const hours = { start: hour - 2, end: hour + 3 }
  const live = { generations: [5], resets: [{ workspaceId: 1, hour, generation: 7 }] }
  for (const uncounted of ['everything', [{ from: 0, through: 2 }]] as RowScope['uncounted'][]) {
    const { sql, params } = contributionsSql(
      name,
      { visible: [{ from: 0, through: idMax }], uncounted, hours },
      { touches: live, conversions: uncounted === 'everything' ? undefined : live },
    )
    await stores.ch.command(
      `INSERT INTO ${name} (generation, is_day, ${contributedColumns(name).join(', ')})
       SELECT 5, 0, ${contributedColumns(name).join(', ')} FROM (${sql})`,
      params,
    )
  }
  const [row] = await stores.ch.query<{ rows: number }>(`SELECT count() AS rows FROM ${name}`)
  expect(row!.rows).toBeGreaterThan(0)
})
