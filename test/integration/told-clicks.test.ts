/** Clicks on short links as webhooks are told of them. */
import { expect, test } from 'vitest'
import { countArrived, mergeMarks, readArrived } from '../../clickhouse/queries/untold-clicks.ts'
import { type ClickContext, tellClicks } from '../../pipeline/webhooks/tell-clicks.ts'
import { fixedClock } from '../../runtime/clock.ts'
import type { ArrivalMark } from '../../schemas/event/arrival-mark.ts'
import { segmentLeaseSize, segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import { toldClicksEveryMs } from '../../schemas/limits/webhook-limits.ts'
import type { LinkClicked } from '../../schemas/resources/link-clicked.ts'
import { dayMs, hourMs } from '../../schemas/time/time-zone.ts'
import { setUpApi } from '../support/api.ts'
import { asking } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi({ allowPrivateTargets: true })
const ask = asking(api, () => mine.apiKey)
const clock = fixedClock(Date.now())
const { signal } = new AbortController()

interface Click {
  /** Its place in the lease of segment numbers, which two nodes never share. */
  readonly nth: number
  readonly at: number
  readonly link: number
  readonly visitor: number
  readonly lease?: number
  readonly kind?: string
  readonly country?: string
  readonly referrer?: string
}

async function store(...clicks: Click[]): Promise<void> {
  const values = clicks.map(({ nth, at, link, visitor, lease = 7, kind = 'click', country = 'DE', referrer = '' }) => {
    const id = lease * segmentLeaseSize * segmentRowsMax + nth
    const time = `fromUnixTimestamp64Milli(${at})`
    return `(${id}, ${mine.workspaceId}, ${time}, '${kind}', ${visitor}, ${link}, '${country}', 'mobile', '${referrer}')`
  })
  await stores.ch.command(
    `INSERT INTO link_clicks (id, workspace_id, occurred_at, kind, visitor, link_id, country, device, referrer) VALUES ${values.join()}`,
  )
}

const look = (changes: Partial<ClickContext> = {}) =>
  tellClicks({ pg: stores.pg, ch: stores.ch, clock, ...changes }, signal)
const nextLook = (changes?: Partial<ClickContext>) => {
  clock.set(clock.now() + toldClicksEveryMs)
  return look(changes)
}

/** All that was told since the last call, by link. */
async function told(): Promise<Record<number, LinkClicked[]>> {
  const rows = await stores.pg.query<{ object: LinkClicked }>(
    `WITH gone AS (DELETE FROM outbox WHERE type = 'link.clicked' RETURNING id, object) SELECT object FROM gone ORDER BY id`,
  )
  const events: Record<number, LinkClicked[]> = {}
  for (const { object } of rows) events[object.link_id] = [...(events[object.link_id] ?? []), object]
  return events
}
const countsOf = (events: Record<number, LinkClicked[]>) =>
  Object.fromEntries(Object.entries(events).map(([link, own]) => [link, own.map(({ clicks }) => clicks)]))

const label = 'A letter'
const makeLink = async () =>
  (await ask<{ id: number }>('POST', '/v1/links', { label, destination_url: 'https://example.com/' })).body.id
const register = async () =>
  (await ask<{ id: number }>('POST', '/v1/webhooks', { url: 'http://127.0.0.1:1/', events: ['link.clicked'] })).body.id

test('each click after the endpoint was made is told once, as the figures count it: late ones, after kills, by several pipelines', async () => {
  const [first, second] = [await makeLink(), await makeLink()]
  const shown = async () =>
    (await ask<{ click_counts: { clicks: number } }>('GET', `/v1/links/${first}`)).body.click_counts.clicks
  const before = Date.now() - hourMs
  await store({ nth: 1, at: before, link: first, visitor: 1 })
  await look()
  expect(await stores.pg.query('SELECT 1 FROM told_clicks')).toEqual([])
  const endpoint = await register()
  const since = Date.now() + 1_000
  // Whole hours later, so that no visitor's hour ends in between. The first look is a minute after the clicks.
  const at = Math.ceil(since / hourMs) * hourMs + 1_000
  clock.set(at + 60_000)
  await store(
    { nth: 2, at: before + 1, link: first, visitor: 2 },
    { nth: 3, at, link: first, visitor: 1, referrer: 'https://news.example/a' },
    { nth: 4, at: at + 2, link: first, visitor: 1, country: 'FR' },
    { nth: 5, at: at + 4, link: first, visitor: 3 },
    { nth: 6, at: at + 4, link: first, visitor: 8, kind: 'bot' },
    { nth: 7, at: at + 4, link: first, visitor: 9, kind: 'prefetch' },
    { nth: 8, at: at + 5, link: second, visitor: 1 },
  )
  await look()
  const events = await told()
  expect(events[first]).toEqual([
    {
      link_id: first,
      object_id: `link_${first}`,
      label,
      clicks: 2,
      first_clicked_at: new Date(at).toISOString(),
      last_clicked_at: new Date(at + 4).toISOString(),
      top_countries: [{ country: 'DE', clicks: 2 }],
      top_devices: [{ device: 'mobile', clicks: 2 }],
      top_referrers: [
        { host: '', clicks: 1 },
        { host: 'news.example', clicks: 1 },
      ],
    },
  ])
  expect(countsOf(events)).toEqual({ [first]: [2], [second]: [1] })

  // A repeat in the hour, a late one of an earlier hour, another node's, whose lease is older; and nothing within the minute.
  await store(
    { nth: 9, at: at + 6, link: second, visitor: 1 },
    { nth: 10, at: since + 1, link: first, visitor: 1 },
    { nth: 1, at: at + 7, link: first, visitor: 4, lease: 3 },
  )
  await look()
  expect(await told()).toEqual({})
  await nextLook()
  expect(countsOf(await told())).toEqual({ [first]: [2] })

  // A process dies before its transaction ends. Two look at once. One is so late that another has its lease.
  await store({ nth: 11, at: at + 8, link: first, visitor: 5 })
  const dying = { ...stores.pg, transaction: () => Promise.reject(new Error('killed')) }
  await expect(nextLook({ pg: dying as never })).rejects.toThrow('killed')
  expect(await told()).toEqual({})
  clock.set(clock.now() + toldClicksEveryMs)
  await Promise.all([look(), look()])
  expect(countsOf(await told())).toEqual({ [first]: [1] })
  await store({ nth: 12, at: at + 9, link: first, visitor: 6 })
  let isLate = true
  const query: typeof stores.ch.query = async (...asked) => {
    const rows = await stores.ch.query(...asked)
    if (isLate) {
      isLate = false
      await nextLook()
    }
    return rows as never
  }
  await nextLook({ ch: { ...stores.ch, query } as never })
  expect(isLate).toBe(false)
  expect(countsOf(await told())).toEqual({ [first]: [1] })
  // Those of before the endpoint are in the figures, too.
  expect(await shown()).toBe(2 + 2 + 2 + 1 + 1)

  await ask('DELETE', `/v1/webhooks/${endpoint}`)
  await nextLook()
  await store({ nth: 13, at: at + 10, link: first, visitor: 7 })
  const made = [await register(), new Date(clock.now())]
  await stores.pg.query('UPDATE webhook_endpoints SET updated_at = $2 WHERE id = $1', made)
  clock.set(clock.now() + hourMs)
  await look()
  await store({ nth: 14, at: clock.now() + 1, link: first, visitor: 7 })
  await nextLook()
  expect(countsOf(await told())).toEqual({ [first]: [1] })
})

test('readings of few rows or links tell the same clicks as one of all, and none twice', async () => {
  const links = [await makeLink(), await makeLink(), await makeLink()]
  const from = Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs
  const clicks = Array.from({ length: 60 }, (_, nth) => ({
    nth: 1_000 + nth,
    lease: nth % 3,
    at: from + ((nth * 7_919) % 180) * 60_000,
    link: links[Math.floor(nth / 5) % 3]!,
    visitor: nth % 11,
  }))
  await store(...clicks)
  const sums = async (bounds: { rowsMax: number; linksMax: number }) => {
    const counts: Record<number, number> = {}
    let told: ArrivalMark[] = []
    for (let readings = 1; ; readings++) {
      const untold = { workspaceId: mine.workspaceId, from, told }
      const arrived = await readArrived(stores.ch, untold, bounds)
      if (arrived.marks.length === 0) return { counts, readings }
      for (const { link_id: link, list, clicks } of await countArrived(stores.ch, untold, arrived, 5)) {
        if (list === 'all') counts[link] = (counts[link] ?? 0) + clicks
      }
      told = mergeMarks(told, arrived.marks)
    }
  }
  const all = await sums({ rowsMax: 1_000, linksMax: 1_000 })
  const keys = new Set(clicks.map(({ link, visitor, at }) => `${link} ${visitor} ${Math.floor(at / hourMs)}`))
  const ownSum = links.reduce((sum, link) => sum + all.counts[link]!, 0)
  expect([all.readings, ownSum]).toEqual([2, keys.size])
  for (const bounds of [
    { rowsMax: 7, linksMax: 1_000 },
    { rowsMax: 1_000, linksMax: 1 },
  ]) {
    const parts = await sums(bounds)
    expect(parts.readings).toBeGreaterThan(3)
    expect(parts.counts).toEqual(all.counts)
  }
})

test('a clock that ran three days ahead, and is right again, keeps no click from being told, and has none told twice', async () => {
  // Else the workspaces of earlier tests, whose clocks ran an hour ahead, are looked at, too.
  await stores.pg.query(`UPDATE webhook_endpoints SET status = 'disabled'`)
  const link = await makeLink()
  const endpoint = await register()
  const now = Date.now()
  const since = new Date(now - 2 * dayMs)
  await stores.pg.query('UPDATE webhook_endpoints SET updated_at = $2 WHERE id = $1', [endpoint, since])
  clock.set(now)
  await store({ nth: 0, at: now - dayMs, link, visitor: 1, lease: 11 })
  await look()
  expect(countsOf(await told())).toEqual({ [link]: [1] })
  clock.set(now + 3 * dayMs)
  await look()
  clock.set(now + toldClicksEveryMs)
  await store({ nth: 1, at: now + 1_000, link, visitor: 1, lease: 11 })
  await look()
  expect(countsOf(await told())).toEqual({ [link]: [1] })
})

test('an endpoint that a clock which ran ahead has dated is told of clicks from now on', async () => {
  await stores.pg.query(`UPDATE webhook_endpoints SET status = 'disabled'`)
  await stores.pg.query('DELETE FROM told_clicks')
  const link = await makeLink()
  const endpoint = await register()
  const now = Date.now()
  clock.set(now)
  const ahead = new Date(now + 3 * dayMs)
  await stores.pg.query('UPDATE webhook_endpoints SET updated_at = $2 WHERE id = $1', [endpoint, ahead])
  await look()
  await store({ nth: 0, at: now + 1_000, link, visitor: 1, lease: 12 })
  await nextLook()
  expect(countsOf(await told())[link]).toEqual([1])
})
