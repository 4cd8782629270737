/**
 * Messages about conversions, payments and refunds. Each recipient has one row of the queue (alert-mails.ts), where they are
 * gathered in the transaction that makes them known. So each is told once, or not at all. A claim takes what is gathered.
 * The row stays after a message, and says when the next one may go. So no recipient has more than its share, and a row
 * holds little however many there are. Held by test/integration/conversion-messages.test.ts.
 */
import {
  chatConversionsPauseMs,
  conversionMessagesDailyMax,
  conversionRows,
  conversionsWaitMaxMs,
  mailConversionsPauseMs,
  toldConversionLateMaxMs,
} from '../../../schemas/limits/alert-limits.ts'
import { clocksApartMaxMs } from '../../../schemas/limits/store-limits.ts'
import { day } from '../../../schemas/limits/units.ts'
import type { ToldConversions, ToldKind, ToldLine } from '../../../schemas/told-conversions.ts'
import type { Queryable } from '../../client.ts'
import { isInUse } from '../workspaces/is-in-use.ts'
import { alertDueMaxMs, type ClaimedMail, claimOf, isClaim } from './alert-mails.ts'
import { isReachable } from './report-recipients.ts'

/** Who is told. */
export interface ConversionRule {
  readonly workspaceId: number
  /** The row that stands for the address or channel: the first that tells. Where switches move, another may: decision 0045. */
  readonly recipientId: number
  /** The events whose conversions are told; empty: all. */
  readonly names: readonly string[]
}

/** Rules of those workspaces that have a plan. Channels that are turned off have none. */
export function listConversionRules(
  q: Queryable,
  wanted: 'conversions' | 'payments',
  workspaceIds: readonly number[],
): Promise<ConversionRule[]> {
  const isSame = 'o.workspace_id = r.workspace_id AND (o.email = r.email OR o.channel_id = r.channel_id)'
  return q.query<ConversionRule>(
    `SELECT r.workspace_id AS "workspaceId", r.conversion_names AS names,
       (SELECT min(o.id) FROM report_recipients o WHERE ${isSame} AND (o.conversions OR o.payments)) AS "recipientId"
     FROM report_recipients r JOIN workspaces w ON w.id = r.workspace_id
     JOIN owners p ON p.id = w.owner_id AND ${isInUse('p')}
     WHERE r.${wanted} AND r.workspace_id = ANY ($1::int[]) AND ${isReachable('true')}`,
    [workspaceIds],
  )
}

/**
 * Tells those who want it of payments and refunds, in the transaction that writes them down: old ones aren't told. It locks
 * rows, so call it last.
 */
export async function tellPayments(
  tx: Queryable,
  workspaceId: number,
  lines: readonly ToldLine[],
  now: number,
): Promise<void> {
  const added = toldOf(
    lines.filter(({ at }) => at >= now - toldConversionLateMaxMs),
    now,
  )
  if (added === undefined) return
  const rules = await listConversionRules(tx, 'payments', [workspaceId])
  await gather(tx, new Map(rules.map(({ recipientId }) => [recipientId, added])), now)
}

/** Counts lines, and keeps the first of them. @returns undefined where there are none */
export function toldOf(lines: readonly ToldLine[], now: number): ToldConversions | undefined {
  const count = (kind: ToldKind) => lines.filter((line) => line.kind === kind).length
  const counts = { conversion: count('conversion'), payment: count('payment'), refund: count('refund') }
  return lines.length === 0 ? undefined : { counts, lines: firstOf(lines), since: now }
}

export function mergeTold(had: ToldConversions, more: ToldConversions): ToldConversions {
  const sum = (kind: ToldKind) => had.counts[kind] + more.counts[kind]
  return {
    counts: { conversion: sum('conversion'), payment: sum('payment'), refund: sum('refund') },
    lines: firstOf([...had.lines, ...more.lines]),
    since: had.since,
  }
}

function firstOf(lines: readonly ToldLine[]): ToldLine[] {
  const conversions = lines.filter(({ kind }) => kind === 'conversion')
  const money = lines.filter(({ kind }) => kind !== 'conversion')
  return [...conversions.slice(0, conversionRows), ...money.slice(0, conversionRows)]
}

interface Gathering {
  readonly id: number
  readonly dueAt: Date
  readonly gathered: ToldConversions | null
}

/**
 * Adds what each recipient is told of. It locks rows in one order, so call it once in a transaction. One who is removed
 * meanwhile is left out.
 */
export async function gather(tx: Queryable, told: ReadonlyMap<number, ToldConversions>, now: number): Promise<void> {
  if (told.size === 0) return
  await tx.query(
    `INSERT INTO alert_mails (recipient_id, kind, due_at)
     SELECT id, 'conversions', $2 FROM (SELECT id FROM report_recipients WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE) r
     ON CONFLICT DO NOTHING`,
    [[...told.keys()], new Date(now)],
  )
  const rows = await tx.query<Gathering>(
    `SELECT recipient_id AS id, due_at AS "dueAt", gathered FROM alert_mails
     WHERE recipient_id = ANY ($1) AND kind = 'conversions' ORDER BY recipient_id FOR UPDATE`,
    [[...told.keys()]],
  )
  const changes = rows.map(({ id, dueAt, gathered }) => {
    const more = told.get(id)!
    const inMs = dueAt.getTime() - now
    // A time beyond any day's end was set by a clock that ran ahead: it isn't waited for.
    const isFar = inMs > conversionsWaitMaxMs && inMs <= alertDueMaxMs + clocksApartMaxMs
    if (isFar) return { id, gathered, leftOut: totalOf(more) }
    return { id, gathered: gathered === null ? more : mergeTold(gathered, more), leftOut: 0 }
  })
  await tx.query(
    `UPDATE alert_mails m SET gathered = added.gathered, left_out = m.left_out + added.left_out
     FROM unnest($1::bigint[], $2::jsonb[], $3::int[]) AS added (id, gathered, left_out)
     WHERE m.recipient_id = added.id AND m.kind = 'conversions'`,
    [
      changes.map(({ id }) => id),
      changes.map(({ gathered }) => gathered && JSON.stringify(gathered)),
      changes.map(({ leftOut }) => leftOut),
    ],
  )
}

/** Conversions, payments and refunds together. */
function totalOf({ counts }: ToldConversions): number {
  return counts.conversion + counts.payment + counts.refund
}

/**
 * Ends a claim, and holds the next message back. A message that wasn't sent is left out: the next one says how many it had.
 * One that had nothing else to say isn't tried again: without `told_at` the count waits for what comes next.
 * Does nothing if another has the claim by now.
 */
export async function endConversionMail(
  q: Queryable,
  claim: Extract<ClaimedMail, { kind: 'conversions' }>,
  { now, isSent }: { readonly now: number; readonly isSent: boolean },
): Promise<void> {
  const { told, leftOut } = claim.told
  const lost = isSent ? 0 : leftOut + (told === null ? 0 : totalOf(told))
  const pauseMs = claim.channelId === null ? mailConversionsPauseMs : chatConversionsPauseMs
  const nextDay = (Math.floor(now / day) + 1) * day
  const times = '(CASE WHEN sent_on = $6::date THEN sent_times ELSE 0 END + $11::boolean::int)'
  await q.query(
    `UPDATE alert_mails SET is_sending = false, attempts = 0, uncertain = 0, taken = NULL, left_out = left_out + $7,
       told_at = CASE WHEN NOT $12::boolean THEN told_at END,
       sent_on = $6::date, sent_times = ${times}, due_at = CASE WHEN ${times} >= $8 THEN $9::timestamptz ELSE $10::timestamptz END
     WHERE ${isClaim}`,
    [
      ...claimOf(claim),
      new Date(now).toISOString().slice(0, 10),
      lost,
      conversionMessagesDailyMax,
      new Date(nextDay),
      new Date(now + pauseMs),
      isSent,
      !isSent && told === null,
    ],
  )
}

/** Takes the lines of erased people's conversions out of messages that wait. @param eventIds of one workspace */
export async function forgetToldConversions(
  tx: Queryable,
  workspaceId: number,
  eventIds: readonly number[],
): Promise<void> {
  const left = (lines: string) =>
    `coalesce((SELECT jsonb_agg(line) FROM jsonb_array_elements(${lines}) AS line WHERE coalesce(line ->> 'event', '') <> ALL ($2::text[])), '[]')`
  await tx.query(
    `WITH chosen AS (
       SELECT m.recipient_id FROM alert_mails m JOIN report_recipients r ON r.id = m.recipient_id
       WHERE r.workspace_id = $1 AND m.kind = 'conversions' ORDER BY m.recipient_id FOR UPDATE OF m)
     UPDATE alert_mails m SET gathered = jsonb_set(gathered, '{lines}', ${left("gathered -> 'lines'")}),
       taken = CASE WHEN taken -> 'told' <> 'null' THEN jsonb_set(taken, '{told,lines}', ${left("taken -> 'told' -> 'lines'")}) ELSE taken END
     FROM chosen WHERE m.recipient_id = chosen.recipient_id AND m.kind = 'conversions'`,
    [workspaceId, eventIds.map(String)],
  )
}
