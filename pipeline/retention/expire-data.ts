/**
 * Deletes rows past their retention (docs/retention.md). Each workspace's plan, or its own shorter setting, decides
 * about events and the rows derived from them, clicks on links, replays and inbox rows. Contacts and e-mails go once
 * none of these rows has them. Old bot visits go, and manifests that no node can come back with.
 * Idempotent. A failure of one step, or of one workspace's people, doesn't stop the others. Where the clocks disagree
 * nothing is deleted, and the job fails.
 */
import { deleteOldCopies } from '../../clickhouse/queries/people/copy-events.ts'
import type { Queryable } from '../../postgres/client.ts'
import { deleteOldFacts, firstFact } from '../../postgres/tables/people/bindings.ts'
import { deleteOldSightings } from '../../postgres/tables/people/contact-sightings.ts'
import { addWorkOfOldContacts, deleteOldContacts, firstContact } from '../../postgres/tables/people/contacts.ts'
import { deleteOldErasures, listDoneErasures } from '../../postgres/tables/people/erasures.ts'
import { deleteOldInbox, deleteOldManifests } from '../../postgres/tables/people/inbox.ts'
import { deleteOldPersonCredits } from '../../postgres/tables/people/person-credits.ts'
import { listWorkspaces, listWorkspacesAmong, noteDeleted } from '../../postgres/tables/workspaces/workspaces.ts'
import { inPortions } from '../../runtime/lists.ts'
import { shippedManifestKeepMs } from '../../schemas/limits/log-limits.ts'
import { erasureKeepMs } from '../../schemas/limits/people-limits.ts'
import { botRetentionDays } from '../../schemas/limits/retention-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { agreedTime } from '../agreed-time.ts'
import { deleteExpiredDays } from '../fold/delete-rows.ts'
import { eraseReplays } from '../people/erase-replays.ts'
import { reopenIfLate } from '../people/erased-events.ts'
import { holdMerging } from '../people/merge.ts'
import type { JobContext } from '../queue/job.ts'
import { makeDayDeleter } from './delete-days.ts'
import { deleteRemoved } from './delete-removed.ts'
import { expireSearch } from './expire-search.ts'
import { type Expiring, expiryOf, groupByExpiry, keptFromOf } from './retention.ts'
import { deleteInPortions, forEach, walk, withSweepDeadline } from './sweep.ts'

/** Rows of one statement in Postgres: well within its deadline. */
const rowsPerStatement = 5_000
/** Their ids stand in its text. */
const workspacesPerMutation = 5_000

const tables = ['events', 'link_clicks', 'replay_chunks'] as const

export async function expireData(context: JobContext): Promise<void> {
  const { pg, ch, log, metrics, signal } = context
  const now = await agreedTime(context)
  const groups = groupByExpiry(await listWorkspaces(pg), now)
  const expiring = groups.flatMap(({ before, workspaceIds }) => expiringBy(before, workspaceIds))
  const days = makeDayDeleter(ch, signal)

  // Without any workspace nothing is known of the events: an empty Postgres is no reason to delete them.
  if (groups.length > 0) {
    // Where nothing is deleted, a raised plan shows all that an import brings.
    const oldest = groups[0]!.before
    const all = { before: oldest, workspaceIds: expiring.map(({ workspaceId }) => workspaceId) }
    await noteDeleted(pg, await days.listLosing(tables, all), oldest)
    for (const table of tables) {
      // Anew: a workspace that was made since may keep its rows for longer, and have imported old ones.
      const [first] = groupByExpiry(await listWorkspaces(pg), now)
      // Never later than at the run's begin: rows that a retention shortened since loses aren't noted yet.
      const rows = first === undefined ? 0 : await days.dropDays(table, Math.min(first.before, oldest))
      metrics.rowsExpired(table, rows)
      log.info({ rows, table }, 'dropped expired days')
    }
    for (const group of groups) {
      const losing = expiringBy(group.before, await days.listLosing(tables, group))
      const workspaceIds = (await stillExpiring(pg, losing, now)).map(({ workspaceId }) => workspaceId)
      await noteDeleted(pg, workspaceIds, group.before)
      for (const table of tables) metrics.rowsExpired(table, await days.deleteOf(table, { ...group, workspaceIds }))
    }
    for (const some of inPortions(expiring, workspacesPerMutation)) {
      const still = await stillExpiring(pg, some, now)
      if (still.length > 0) await deleteOldCopies(ch, still)
    }
    const rows = await deleteExpiredDays(context, await stillExpiring(pg, expiring, now))
    log.info({ rows }, 'deleted rows derived from expired days')
    log.info(
      { rows: await expireSearch(context, await stillExpiring(pg, expiring, now)) },
      'deleted expired search terms',
    )
  }
  log.info({ rows: await deleteRemoved(context) }, 'deleted rows of workspaces that are gone')
  const visits = await days.dropDays('bot_visits', expiryOf(botRetentionDays, now))
  metrics.rowsExpired('bot_visits', visits)
  log.info({ rows: visits, table: 'bot_visits' }, 'deleted expired rows')

  metrics.rowsExpired('erasures', await deleteOldErasures(pg, now - erasureKeepMs))
  const manifestsBefore = now - shippedManifestKeepMs
  const limit = rowsPerStatement
  await deleteInPortions(context, 'shipped_manifests', limit, () => deleteOldManifests(pg, manifestsBefore, limit))

  try {
    await removeLateOfErased(context)
  } finally {
    const workspaces = expiring.map((one) => ({ ...one, id: one.workspaceId }))
    await forEach(context, 'workspace', workspaces, async (one) => {
      if ((await stillExpiring(pg, [one], now)).length > 0) await expirePeople(context, one.id, one.before)
    })
  }
}

function expiringBy(before: number, workspaceIds: readonly number[]): Expiring[] {
  return workspaceIds.map((workspaceId) => ({ workspaceId, before }))
}

/**
 * The workspaces whose rows may still be deleted. Asked before each step, because a retention may be raised during the run, and
 * old events imported. Once a deletion of events is noted (`deleted_before`), a raise doesn't spare the derived rows.
 */
async function stillExpiring(pg: Queryable, expiring: readonly Expiring[], now: number): Promise<Expiring[]> {
  const ids = expiring.map(({ workspaceId }) => workspaceId)
  const keptFrom = keptFromOf(await listWorkspacesAmong(pg, ids), now)
  return expiring.filter(({ workspaceId, before }) => before <= (keptFrom.get(workspaceId) ?? Number.NEGATIVE_INFINITY))
}

/** Events and replays that were acknowledged before an erasure, and reached ClickHouse after it. */
async function removeLateOfErased(context: JobContext): Promise<void> {
  const { pg, ch, log } = context
  await forEach(context, 'erasure', await listDoneErasures(pg), async (erasure) => {
    const isReopened = await reopenIfLate(pg, ch, erasure)
    const sessions = await eraseReplays(ch, erasure)
    if (isReopened || sessions > 0) log.info({ erasure: erasure.id, isReopened, sessions }, 'removes what came late')
  })
}

/** After the copies of their events, by which figures are computed. */
async function expirePeople(context: JobContext, id: number, before: number): Promise<void> {
  const q = withSweepDeadline(context.pg)
  const limit = rowsPerStatement
  await walk(context, firstContact, (after) => addWorkOfOldContacts(q, id, { before, after, limit }))
  await deleteInPortions(context, 'inbox', limit, () => deleteOldInbox(q, id, before, limit))
  await walk(context, firstFact, async (after) => {
    const { rows, last } = await deleteOldFacts(q, id, { before, after, limit })
    context.metrics.rowsExpired('identity_facts', rows)
    return last
  })
  const beforeHour = Math.floor(before / hourMs)
  await deleteInPortions(context, 'person_credits', limit, () => deleteOldPersonCredits(q, id, beforeHour, limit))
  // No merge names them meanwhile, and no refresh writes their figures.
  const deleteHolding = async (tx: Queryable) => {
    await holdMerging(tx)
    return deleteOldContacts(tx, id, before, limit)
  }
  await deleteInPortions(context, 'contacts', limit, () =>
    context.pg.transaction((tx) => deleteHolding(withSweepDeadline(tx))),
  )
  await deleteInPortions(context, 'contact_sightings', limit, () => deleteOldSightings(q, id, before, limit))
}
