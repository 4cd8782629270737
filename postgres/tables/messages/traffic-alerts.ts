/**
 * Traffic alerts: settings, when each is looked at next, and what was told last. Times are the caller's, who holds a clock.
 * Held by test/integration/traffic-alerts.test.ts.
 */
import { alertPauseMs } from '../../../schemas/limits/alert-limits.ts'
import { hour } from '../../../schemas/limits/units.ts'
import type { AlertKind, TrafficAlert } from '../../../schemas/resources/traffic-alert.ts'
import type { Postgres, Queryable } from '../../client.ts'
import { intervalOf } from '../../clock.ts'
import { isPast } from '../../leasing.ts'
import { insertOutbox } from '../webhooks/outbox.ts'
import { isInUse } from '../workspaces/is-in-use.ts'
import { insertAlertMails } from './alert-mails.ts'

export interface AlertSetting {
  readonly kind: AlertKind
  /** Null: off. */
  readonly threshold: number | null
  readonly told_at: Date | null
}

/** Kinds that were never on are missing. */
export function listAlertSettings(q: Queryable, workspaceId: number): Promise<AlertSetting[]> {
  return q.query<AlertSetting>('SELECT kind, threshold, told_at FROM traffic_alerts WHERE workspace_id = $1', [
    workspaceId,
  ])
}

/** The next look is at once, but not before the pause after the last alert is over. */
export async function setAlert(
  tx: Queryable,
  workspaceId: number,
  { kind, threshold, now }: Pick<AlertSetting, 'kind' | 'threshold'> & { readonly now: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO traffic_alerts AS had (workspace_id, kind, threshold, due_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (workspace_id, kind) DO UPDATE SET threshold = excluded.threshold,
       due_at = greatest(excluded.due_at, had.told_at + ${intervalOf('$5')})`,
    [workspaceId, kind, threshold, now, alertPauseMs],
  )
}

export interface DueAlert {
  readonly kind: AlertKind
  readonly workspaceId: number
  readonly threshold: number
  readonly dueAt: Date
  /** Null: never. */
  readonly toldAt: Date | null
}

/** SQL. No look is further away: the pause after an alert, or a silence that has just begun. */
const lookAheadMaxMs = (kind: AlertKind) =>
  kind === 'spike' ? alertPauseMs : `greatest(a.threshold * ${hour}, ${alertPauseMs})`

/** By workspace. Those that are suspended or without a plan have none. */
export function listDueAlerts(
  q: Queryable,
  kind: AlertKind,
  { now, after, max }: { readonly now: Date; readonly after: number; readonly max: number },
): Promise<DueAlert[]> {
  return q.query<DueAlert>(
    `SELECT a.kind, w.id AS "workspaceId", a.threshold, a.due_at AS "dueAt", a.told_at AS "toldAt"
     FROM traffic_alerts a JOIN workspaces w ON w.id = a.workspace_id
     JOIN owners o ON o.id = w.owner_id AND ${isInUse()}
     WHERE a.kind = $1 AND a.threshold IS NOT NULL AND ${isPast('a.due_at', '$2', lookAheadMaxMs(kind))} AND a.workspace_id > $3
     ORDER BY a.workspace_id LIMIT $4`,
    [kind, now, after, max],
  )
}

/** The alert is still as it was read. */
const isAsRead = 'workspace_id = $1 AND kind = $2 AND threshold = $3 AND due_at = $4'
const asRead = ({ workspaceId, kind, threshold, dueAt }: DueAlert) => [workspaceId, kind, threshold, dueAt]

/** Nothing can be told before that moment. Does nothing where the alert has changed meanwhile. */
export async function postponeAlert(q: Queryable, due: DueAlert, until: Date): Promise<void> {
  await q.query(`UPDATE traffic_alerts SET due_at = $5 WHERE ${isAsRead}`, [...asRead(due), until])
}

/**
 * Claims the alert, and writes its webhook event and a message for each channel that gets alerts. With `withMails` each
 * address that wants alerts gets a mail. It is all or nothing.
 * @returns false where another process has told it, or it was changed meanwhile
 */
export function tellAlert(
  pg: Postgres,
  due: DueAlert,
  { told, now, withMails }: { readonly told: TrafficAlert; readonly now: Date; readonly withMails: boolean },
): Promise<boolean> {
  return pg.transaction(async (tx) => {
    const claimed = await tx.query(
      `UPDATE traffic_alerts SET told_at = $5, told = $6, due_at = $5::timestamptz + ${intervalOf('$7')}
       WHERE ${isAsRead} RETURNING 1`,
      [...asRead(due), now, JSON.stringify(told), alertPauseMs],
    )
    if (claimed.length === 0) return false
    await insertOutbox(tx, due.workspaceId, `traffic.${due.kind}`, told)
    await insertAlertMails(tx, 'alerts', {
      workspaceId: due.workspaceId,
      kind: due.kind,
      subjectId: 0,
      toldAt: null,
      dueAt: now,
      withMails,
    })
    return true
  })
}
