/** Ingest on a machine whose clock is set three days forward and back while it runs. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expireData } from '../../pipeline/retention/expire-data.ts'
import { sleep } from '../../runtime/retry.ts'
import { eventAgeMaxMs } from '../../schemas/limits/event-limits.ts'
import { retentionDaysByPlan } from '../../schemas/limits/retention-limits.ts'
import { type IngestAnswer, startIngest, type TestIngest } from '../support/ingest.ts'
import { jobContext } from '../support/job-context.ts'
import { leaveOut } from '../support/left-out.ts'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'
import { findFaketime } from '../support/system-tools.ts'

const day = 86_400_000
const rounds = isLong ? 10 : 1
const perSecond = 50
/** Time for a test's own calls. */
const slackMs = 60_000

const stores = setUpStores()
let ingest: TestIngest
const clockFile = () => join(stores.dataDir, 'clock')

function setClock(days: number): void {
  writeFileSync(clockFile(), `${days < 0 ? '' : '+'}${days}d\n`)
}

/** Ingest's own time goes by `clockFile`, also while it runs; what it measures spans with goes on as it is. */
function underFakedClock(library: string): Record<string, string> {
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile(),
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    TRACK_RATE_PER_KEY: String(perSecond),
  }
}

async function send(body: Record<string, unknown>): Promise<IngestAnswer> {
  for (;;) {
    const answer = await ingest.post('/track', body)
    if (answer.status !== 429) return answer
    await sleep(100)
  }
}

/** Fills the key's second, and answers whether any was refused. */
async function fillSecond(): Promise<boolean> {
  const body = { tracking_key: ingest.key, event_name: 'fill' }
  const answers = await Promise.all(Array.from({ length: 4 * perSecond }, () => ingest.post('/track', body)))
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].filter((status) => status !== 202 && status !== 429)).toEqual([])
  return statuses.has(429)
}

test(
  'a clock set three days forward or back: events are dated within 72 hours of it or refused, and no rate or claim sticks',
  async (context) => {
    const library = await findFaketime().catch(({ message }: Error) => leaveOut(context, message))
    setClock(0)
    ingest = await startIngest(stores, underFakedClock(library))
    context.onTestFinished(async () => void (await ingest.stop('SIGKILL')))
    const event = { tracking_key: ingest.key, event_name: 'a' }
    const startedAt = Date.now()
    let accepted = 0
    for (const days of Array.from({ length: rounds }, () => [3, 0, -3]).flat()) {
      // The second that is full when the clock jumps is another one then.
      await expect.poll(fillSecond, { interval: 1 }).toBe(true)
      setClock(days)
      expect((await send(event)).status).toBe(202)
      accepted++

      const now = Date.now()
      const stated = [
        '1970-01-01T00:00:00Z',
        '9999-12-31T23:59:59Z',
        'NaN',
        ...[-7, -2, 0, 2, 7].map((at) => iso(now + at * day)),
      ]
      for (const occurred_at of stated) {
        for (const sent_at of [undefined, iso(now), '9999-12-31T23:59:59Z']) {
          const { status } = await send({ ...event, occurred_at, sent_at })
          expect([202, 422]).toContain(status)
          if (status === 202) accepted++
        }
      }
      const old = await send({ ...event, occurred_at: '1970-01-01T00:00:00Z' })
      expect(old.status).toBe(422)
      expect((await send({ ...event, client_event_id: 'the same at all times' })).status).toBe(202)
    }
    setClock(0)
    await ingest.shipped()

    const [rows] = await stores.ch.query<Record<'rows' | 'same' | 'early' | 'late' | 'first' | 'last', number>>(
      `SELECT countIf(event_name = 'a' AND client_event_id = '') AS rows, countIf(client_event_id != '') AS same,
         countIf(occurred_at < arrived_at - toIntervalMillisecond(${eventAgeMaxMs})) AS early,
         countIf(occurred_at > arrived_at) AS late,
         toUnixTimestamp64Milli(min(occurred_at)) AS first, toUnixTimestamp64Milli(max(occurred_at)) AS last FROM events`,
    )
    expect(rows).toMatchObject({ rows: accepted, same: 1, early: 0, late: 0 })
    expect(rows!.first).toBeGreaterThan(startedAt - 3 * day - eventAgeMaxMs - slackMs)
    expect(rows!.last).toBeLessThan(Date.now() + 3 * day + slackMs)
    // It did go by the other clock.
    expect(rows!.last).toBeGreaterThan(startedAt + 2 * day)

    // Nothing of it is past the shortest retention.
    const count = () => stores.ch.query('SELECT count() AS count FROM events')
    const before = await count()
    await stores.pg.query(`UPDATE workspaces SET retention_days = $1`, [retentionDaysByPlan.starter])
    await expireData(jobContext(stores, Date.now()))
    expect(await count()).toEqual(before)
  },
  300_000 + rounds * 40_000,
)

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
