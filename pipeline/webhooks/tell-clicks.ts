/**
 * Reports clicks on short links to webhooks, gathered: at most one event a link and minute. Rules: decisions/0048. One transaction
 * writes the events and moves the marks on, so that each click is in one event, whoever dies and however many processes run.
 *
 *   follow listeners ─► lease a workspace ─► readArrived ─► countArrived ─► marks + outbox
 *
 * Held by test/integration/told-clicks.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import { countArrived, mergeMarks, readArrived, type ToldClicks } from '../../clickhouse/queries/untold-clicks.ts'
import type { Postgres } from '../../postgres/client.ts'
import {
  type ClickReading,
  endClickReading,
  followClickSubscribers,
  leaseClickReadings,
  readLinkLabels,
} from '../../postgres/tables/links/told-clicks.ts'
import { insertOutboxRows } from '../../postgres/tables/webhooks/outbox.ts'
import { forEachAtMost } from '../../runtime/for-each.ts'
import { groupBy, inPortions } from '../../runtime/lists.ts'
import {
  clickSubscribersEveryMs,
  outboxRowsPerStatement,
  toldClickAgeMaxMs,
  toldClickLinksMax,
  toldClickMarksKeptMs,
  toldClickNamesMax,
  toldClickRowsMax,
  toldClicksAtOnce,
  toldClicksEveryMs,
  toldClicksReadEach,
} from '../../schemas/limits/webhook-limits.ts'
import type { LinkClicked } from '../../schemas/resources/link-clicked.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { type JobLoop, type JobLoopContext, startJobLoop } from '../job-loop.ts'

export interface ClickContext extends Pick<JobLoopContext, 'clock'> {
  readonly pg: Postgres
  readonly ch: ClickHouse
}

export function startClickTeller(context: ClickContext & JobLoopContext): JobLoop {
  const whenFailing = 'clicks can not be read for webhooks now; later they are told together'
  const job = { name: 'tell-clicks', whenFailing, pauseMs: clickSubscribersEveryMs }
  return startJobLoop(context, job, (signal) => tellClicks(context, signal))
}

/**
 * One look.
 * @returns whether more workspaces may be due
 * @throws the first failure, after all workspaces were looked at
 */
export async function tellClicks({ pg, ch, clock }: ClickContext, stopping: AbortSignal): Promise<boolean> {
  const now = clock.now()
  await followClickSubscribers(pg, new Date(now))
  const until = new Date(now + toldClicksEveryMs)
  const readings = await leaseClickReadings(pg, new Date(now), until, toldClicksReadEach)
  const failures: unknown[] = []
  await forEachAtMost(toldClicksAtOnce, readings, stopping, async (reading) => {
    await tellClicksOf({ pg, ch, clock }, reading).catch((error) => failures.push(error))
  })
  if (failures.length > 0) throw failures[0]
  return readings.length === toldClicksReadEach
}

async function tellClicksOf({ pg, ch, clock }: ClickContext, reading: ClickReading): Promise<void> {
  const { workspaceId } = reading
  const now = clock.now()
  const from = Math.max(reading.since.getTime(), now - toldClickAgeMaxMs)
  const told = reading.marks.filter(({ day }) => day >= Math.floor((now - toldClickMarksKeptMs) / dayMs))
  const untold = { workspaceId, from, told }
  const arrived = await readArrived(ch, untold, { rowsMax: toldClickRowsMax, linksMax: toldClickLinksMax })
  const rows = arrived.marks.length === 0 ? [] : await countArrived(ch, untold, arrived, toldClickNamesMax)
  const labels = await readLinkLabels(
    pg,
    workspaceId,
    rows.filter(({ list }) => list === 'all').map(({ link_id }) => link_id),
  )
  const events = objectsOf(rows, labels).map((object) => ({ workspaceId, type: 'link.clicked' as const, object }))
  await pg.transaction(async (tx) => {
    const nextAt = new Date(clock.now() + toldClicksEveryMs)
    if (!(await endClickReading(tx, reading, mergeMarks(told, arrived.marks), nextAt))) return
    for (const some of inPortions(events, outboxRowsPerStatement)) await insertOutboxRows(tx, some)
  })
}

/** Leaves out links that are gone. */
function objectsOf(rows: readonly ToldClicks[], labels: ReadonlyMap<number, string>): LinkClicked[] {
  const byLink = groupBy(rows, ({ link_id }) => link_id)
  return [...labels].map(([linkId, label]) => {
    const own = byLink.get(linkId)!
    const listed = (list: ToldClicks['list']) => own.filter((row) => row.list === list)
    const [all] = listed('all')
    return {
      link_id: linkId,
      object_id: `link_${linkId}`,
      label,
      clicks: all!.clicks,
      first_clicked_at: new Date(all!.firstAt).toISOString(),
      last_clicked_at: new Date(all!.lastAt).toISOString(),
      top_countries: listed('country').map(({ name, clicks }) => ({ country: name, clicks })),
      top_devices: listed('device').map(({ name, clicks }) => ({ device: name, clicks })),
      top_referrers: listed('referrer').map(({ name, clicks }) => ({ host: name, clicks })),
    }
  })
}
