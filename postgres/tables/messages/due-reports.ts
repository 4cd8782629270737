/**
 * The queue of the reports: a recipient's row is claimed for a period before the message is sent, and marked afterwards.
 * Times are the caller's, as due times follow from local time.
 *
 *   (no claim of this period) ─► sending ─► sent | waiting ─► sending … | failed
 *
 * A claim that nobody ended is taken over at `due_at`, and counted as uncertain: its message may be there. A report that is
 * too late has failed. Held by test/integration/reports.test.ts.
 */
import { day } from '../../../schemas/limits/units.ts'
import type { ReportKind } from '../../../schemas/resources/report-recipient.ts'
import type { Queryable } from '../../client.ts'
import { milliseconds } from '../../clock.ts'
import { columnsOf } from '../../columns-of.ts'
import { isPast, isTooFarAhead } from '../../leasing.ts'
import { isInUse } from '../workspaces/is-in-use.ts'
import { type Destination, isReachable } from './report-recipients.ts'

/** Timezones of workspaces that have recipients. */
export async function listReportTimezones(q: Queryable): Promise<string[]> {
  const rows = await q.query<{ timezone: string }>(
    'SELECT DISTINCT timezone FROM workspaces WHERE id IN (SELECT workspace_id FROM report_recipients)',
  )
  return rows.map(({ timezone }) => timezone)
}

/** A period that has a report now, in a timezone. */
export interface DuePeriod {
  readonly timezone: string
  readonly every: ReportKind
  /** `YYYY-MM-DD`, the local days, both included. */
  readonly first: string
  readonly last: string
  /** Recipients that were added later get none of it; milliseconds since 1970. */
  readonly sendAt: number
  /** The period's end. */
  readonly end: number
}

export interface DueReport extends Pick<DuePeriod, 'every' | 'first' | 'last' | 'sendAt'> {
  readonly workspaceId: number
  readonly recipients: readonly (Destination & { readonly id: number; readonly createdAt: number })[]
}

/**
 * Condition of a row `r` that can be claimed for a period at a moment. A later period doesn't count if a clock that ran ahead
 * sent it or is to send it.
 */
const isFree = (period: string, now: string) =>
  `(r.period IS NULL OR r.period < ${period}
    OR (r.period > ${period} AND (${isTooFarAhead('r.sent_at', now, 0)} OR ${isTooFarAhead('r.due_at', now, day)}
      OR (r.state = 'failed' AND r.period > (${now}::timestamptz AT TIME ZONE 'UTC')::date - 6)))
    OR (r.period = ${period} AND r.state IN ('sending', 'waiting') AND ${isPast('r.due_at', now, day)}))`

interface DueQuery {
  readonly now: Date
  readonly after?: DueReport | undefined
  readonly max: number
  /** False: those of mail are left out. */
  readonly withMail: boolean
}

/**
 * Reports with recipients to whom they are due, by workspace. Workspaces without a plan or without figures have none, nor
 * have those whose figures are being computed for another timezone.
 */
export function listDueReports(
  q: Queryable,
  periods: readonly DuePeriod[],
  { now, after, max, withMail }: DueQuery,
): Promise<DueReport[]> {
  return q.query<DueReport>(
    `SELECT w.id AS "workspaceId", due.every, due.first::text AS first, due.last::text AS last,
       ${milliseconds('due.send_at')} AS "sendAt",
       json_agg(json_build_object('id', r.id, 'email', r.email, 'channelId', r.channel_id,
         'createdAt', ${milliseconds('r.created_at')}) ORDER BY r.id) AS recipients
     FROM unnest($1::text[], $2::text[], $3::date[], $4::date[], $5::timestamptz[]) AS due (timezone, every, first, last, send_at)
     JOIN workspaces w ON w.timezone = due.timezone
     JOIN owners o ON o.id = w.owner_id AND ${isInUse()}
     JOIN figure_builds b ON b.workspace_id = w.id AND b.state = 'current' AND b.timezone = w.timezone
     JOIN report_recipients r ON r.workspace_id = w.id AND r.every = due.every AND r.created_at <= due.send_at
     WHERE ${isFree('due.first', '$6')} AND ${isReachable('$10')} AND ($7::int IS NULL OR (w.id, due.every) > ($7::int, $8::text))
     GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2 LIMIT $9`,
    [
      ...columnsOf(periods, 'timezone', 'every', 'first', 'last'),
      periods.map(({ sendAt }) => new Date(sendAt)),
      now,
      after?.workspaceId ?? null,
      after?.every ?? null,
      max,
      withMail,
    ],
  )
}

export interface ReportClaim {
  /** This one included. */
  readonly attempts: number
  readonly uncertain: number
}

/** @returns undefined where another process has it, it has ended meanwhile, or the recipient is gone */
export async function claimReport(
  q: Queryable,
  id: number,
  { first, now, until }: { readonly first: string; readonly now: Date; readonly until: Date },
): Promise<ReportClaim | undefined> {
  const [claim] = await q.query<ReportClaim>(
    `UPDATE report_recipients AS r SET period = $2::date, state = 'sending', due_at = $4,
       attempts = CASE WHEN r.period = $2::date THEN r.attempts + 1 ELSE 1 END,
       uncertain = CASE WHEN r.period = $2::date THEN r.uncertain + (r.state = 'sending')::int ELSE 0 END
     WHERE r.id = $1 AND ${isFree('$2::date', '$3')} RETURNING attempts, uncertain`,
    [id, first, now, until],
  )
  return claim
}

/** `uncertain`: the claim is left, and taken over at `dueAt`. */
export type ReportEnd = 'sent' | 'failed' | 'waiting' | 'uncertain'

/** Ends a claim. Does nothing if another has it by now. */
export async function endReport(
  q: Queryable,
  id: number,
  {
    first,
    claim,
    now,
    end,
    dueAt,
  }: { first: string; claim: ReportClaim; now: Date; end: ReportEnd; dueAt: Date | null },
): Promise<void> {
  await q.query(
    `UPDATE report_recipients SET state = $3, due_at = $4, sent_at = CASE WHEN $3 = 'sent' THEN $5 ELSE sent_at END
     WHERE id = $1 AND period = $2::date AND state = 'sending' AND attempts = $6`,
    [id, first, end === 'uncertain' ? 'sending' : end, dueAt, now, claim.attempts],
  )
}

/**
 * Ends reports of these periods and of earlier ones, which are too late: those that wait, and claims that nobody ended.
 * @returns those that failed thereby
 */
export function failLateReports(
  q: Queryable,
  late: readonly Pick<DuePeriod, 'timezone' | 'every' | 'first'>[],
  now: Date,
): Promise<(Destination & { readonly id: number; readonly first: string })[]> {
  return q.query(
    `UPDATE report_recipients AS r SET state = 'failed', due_at = NULL
     FROM unnest($1::text[], $2::text[], $3::date[]) AS late (timezone, every, first)
     JOIN workspaces w ON w.timezone = late.timezone
     WHERE r.workspace_id = w.id AND r.every = late.every AND r.period <= late.first
       AND (r.state = 'waiting' OR (r.state = 'sending' AND r.due_at <= $4))
     RETURNING r.id, r.email, r.channel_id AS "channelId", r.period::text AS first`,
    [late.map(({ timezone }) => timezone), late.map(({ every }) => every), late.map(({ first }) => first), now],
  )
}
