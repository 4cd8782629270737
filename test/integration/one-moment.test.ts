/**
 * An answer is of one moment: while folds are written, no part of it is ahead of another. Days
 * that are over are the subject of test/integration/fold-takeover.test.ts, at each call of a fold.
 */
import { describe, expect, test } from 'vitest'
import { fold } from '../../pipeline/fold/fold.ts'
import { renewCells } from '../../pipeline/fold/write-cells.ts'
import { readCurrentBuild } from '../../postgres/tables/figures/figure-builds.ts'
import { advanceMark, leaseSegments } from '../../postgres/tables/operation/segment-leases.ts'
import { sleep } from '../../runtime/retry.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { type EventLike, insertEventRows, makeEventRow } from '../support/event-rows.ts'
import { closeDaysAt, workOn } from '../support/fold.ts'
import { makeTestWorkspace, type Overview, type TestWorkspace } from '../support/overview.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

const visitors = isLong ? 20_000 : 300
const portions = isLong ? 60 : 5
/** Between two questions: in short a few meet each fold. */
const pauseMs = isLong ? 20 : 150
const now = Date.parse('2026-11-20T14:25:00Z')
const [minute, day] = [60_000, 86_400_000]

const stores = setUpStores()

const sum = <Name extends string>(rows: readonly { readonly [name in Name]?: number | undefined }[], name: Name) =>
  rows.reduce((total, row) => total + (row[name] ?? 0), 0)

/** Each visitor has one session, one source and one page. */
function expectOneMoment(overview: Overview): void {
  const { metrics, traffic_series, top_sources, top_pages, devices, browsers, countries } = overview
  const { visitors: all, pageviews, conversions } = metrics
  expect(metrics.sessions).toBe(all)
  for (const list of [top_sources, devices, browsers, countries, top_pages]) {
    expect({ visitors: sum(list, 'visitors'), sessions: sum(list, 'sessions') }).toEqual({
      visitors: all,
      sessions: all,
    })
    expect(sum(list, 'conversions')).toBe(conversions)
  }
  expect(sum(top_pages, 'pageviews')).toBe(pageviews)
  expect(sum(top_sources, 'pageviews')).toBe(pageviews)
  expect(sum(traffic_series, 'pageviews')).toBe(pageviews)
  expect(sum(traffic_series, 'conversions')).toBe(conversions)
  expect(metrics.events).toBe(pageviews + conversions)
}

/** Three events of each visitor within the hour before `end`: in portions, each with visitors that came before and new ones. */
function burstOf(end: number): EventLike[][] {
  const parts: EventLike[][] = Array.from({ length: portions }, () => [])
  for (let visitor = 1; visitor <= visitors; visitor++) {
    const first = Math.floor((visitor / (visitors + 1)) * (portions - 2))
    const like = { visitor, source: `source-${visitor % 5}`, medium: 'email', path: '/landing' }
    for (const [nth, kind] of (['pageview', 'conversion', 'pageview'] as const).entries()) {
      parts[first + nth]!.push({ ...like, kind, occurred_at: end - minute * (50 - nth * 10) + visitor })
    }
  }
  return parts
}

/** Stores, ships and folds portion by portion, while each question is asked again and again. */
async function askWhileFolding(workspace: TestWorkspace, burst: readonly EventLike[][], query: Record<string, string>) {
  const first = await leaseSegments(stores.pg, segmentLeaseSize)
  let id = first * segmentRowsMax
  let isOver = false
  const answers: Overview[] = []
  const ask = async () => answers.push(await workspace.ask(query, now))
  const askAgainAndAgain = async () => {
    for (; !isOver; await sleep(pauseMs)) await ask()
    await ask()
  }
  const folding = async () => {
    for (const portion of burst) {
      const rows = portion.map((event) => ({ ...makeEventRow({ ...event, workspace_id: workspace.id }), id: id++ }))
      await insertEventRows(stores.ch, rows)
      await advanceMark(stores.pg, first, id - 1)
      // Several folds of a portion.
      while (!(await fold(workOn(stores), Math.ceil(portion.length / 2))).isAllTaken);
      // An answer may take as long as all folds do.
      const heard = answers.length
      await expect.poll(() => answers.length).toBeGreaterThan(heard)
    }
  }
  // Whatever goes wrong, nothing of it is under way when the next test begins.
  const outcomes = await Promise.allSettled([folding().finally(() => (isOver = true)), askAgainAndAgain()])
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return answers
}

const full = { visitors, sessions: visitors, pageviews: 2 * visitors, conversions: visitors, events: 3 * visitors }

describe('while a burst into an empty workspace is folded', () => {
  test.each([
    ['today, by hours', now, { days: '1' }],
    ['a range that begins and ends inside a day', now, { start: '2026-11-20T13:00:00Z', end: '2026-11-20T14:24:59Z' }],
  ])('no answer about %s has visitors without their source, or pages ahead of sessions', async (_, end, query) => {
    const workspace = await makeTestWorkspace(stores, {})
    const answers = await askWhileFolding(workspace, burstOf(end), query)
    answers.forEach(expectOneMoment)
    expect(answers.at(-1)!.metrics).toMatchObject(full)
    const seen = answers.map(({ metrics }) => metrics.events)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    // It can fail: folds were met in between.
    expect(new Set(seen).size).toBeGreaterThan(3)
  })
})

describe('while the cells of a day that is over are stale', () => {
  /** Folds a late event of the visitor on the closed day. @returns when the event was acknowledged */
  async function foldLate(workspace: TestWorkspace, visitor: number): Promise<number> {
    const first = await leaseSegments(stores.pg, segmentLeaseSize)
    // The leases of others say nothing any more.
    await stores.pg.query(`UPDATE segment_leases_taken SET updated_at = '-infinity' WHERE first_segment != $1`, [first])
    const id = first * segmentRowsMax
    const late = makeEventRow({ workspace_id: workspace.id, visitor, occurred_at: now - 2 * day })
    await insertEventRows(stores.ch, [{ ...late, id }])
    const acknowledgedAt = Date.now()
    await sleep(50)
    await advanceMark(stores.pg, first, id)
    await fold(workOn(stores))
    return acknowledgedAt
  }

  async function dieBeforeCells(): Promise<void> {
    const ch = {
      ...stores.ch,
      command: (sql: string, ...more: [Record<string, unknown>?]) =>
        sql.startsWith('INSERT INTO cells') ? Promise.reject(new Error('killed')) : stores.ch.command(sql, ...more),
    }
    await expect(renewCells(workOn({ ...stores, ch }))).rejects.toThrow('cells could not be written')
  }

  async function makeClosed(): Promise<TestWorkspace> {
    const workspace = await makeTestWorkspace(stores, {})
    await workspace.addEvents([
      { visitor: 1, occurred_at: now - 3 * day },
      { visitor: 1, occurred_at: now - 2 * day },
      { visitor: 2, occurred_at: now - 60 * minute },
    ])
    await closeDaysAt(stores, now)
    return workspace
  }

  const staleDaysOf = async ({ id }: TestWorkspace) => (await readCurrentBuild(stores.pg, id))!.staleDays

  test('an answer has late events at once, and the same when the cells were renewed', async () => {
    const workspace = await makeClosed()
    const acknowledgedAt = await foldLate(workspace, 3)
    expect(await staleDaysOf(workspace)).toEqual([Math.floor(now / day) - 2])
    const stale = await workspace.ask({ days: '7' })
    expect(Date.parse(stale.metrics.as_of)).toBeGreaterThan(acknowledgedAt)
    expect(stale.metrics).toMatchObject({ visitors: 3, pageviews: 4 })
    await dieBeforeCells()
    expect((await workspace.ask({ days: '7' })).metrics).toMatchObject({ visitors: 3, pageviews: 4 })
    while (await renewCells(workOn(stores)));
    expect(await staleDaysOf(workspace)).toEqual([])
    const { recommendations: _, ...renewed } = await workspace.ask({ days: '7' })
    expect(stale).toMatchObject({ ...renewed, metrics: { ...renewed.metrics, as_of: expect.any(String) } })
  })
})
