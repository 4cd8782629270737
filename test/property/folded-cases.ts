/**
 * Cases of the overview that arrive in portions, with folds between them. Ids are drawn without regard to time, so
 * events of a later portion are late for the rows of an earlier one.
 */
import { insertInbox } from '../../postgres/tables/people/inbox.ts'
import { segmentRowsMax } from '../../schemas/limits/log-limits.ts'
import type { OverviewCase } from '../oracle/cases.ts'
import type { EventFact } from '../oracle/facts.ts'
import { insertBotVisitRows, insertEventRows } from '../support/event-rows.ts'
import type { TestStores } from '../support/stores.ts'
import { makeWorkspace } from '../support/workspace.ts'
import { inboxRows, type PlacedCase, placePeople, withOwnEmails } from './ask-overview.ts'

/** More ids than a case has events. */
const idsPerCase = 1024
/** The last portion's ids are near the largest that JSON carries exactly; those of the others begin with the first there are. */
const lateSegments = 2 ** 34
let placedPortions = 0
let placedManifests = 1_000_000

export interface Portion {
  /** Inserts the portion's rows, says that they are shipped, and answers the last id that may be among them. */
  insert(): Promise<number>
}

/** The cases with ids and workspaces of their own, and `count` portions of their rows, to be inserted in order. */
export async function placeInPortions(
  stores: TestStores,
  cases: readonly OverviewCase[],
  count: number,
): Promise<{ placed: PlacedCase[]; portions: Portion[] }> {
  const segmentsPerPortion = Math.ceil((cases.length * idsPerCase) / segmentRowsMax)
  const segments = Array.from({ length: count }, (_, portion) => {
    const first = placedPortions++ * segmentsPerPortion
    return portion === count - 1 ? lateSegments + first : first
  })
  const placed: PlacedCase[] = []
  const rows: EventFact[][] = segments.map(() => [])
  for (const [at, one] of cases.entries()) {
    const { workspaceId } = await makeWorkspace(stores, one)
    const events = one.events.map((event) => {
      const portion = Math.min(count - 1, Math.floor((event.id * count) / (one.events.length + 1)))
      const id = segments[portion]! * segmentRowsMax + at * idsPerCase + event.id
      return { row: { ...event, id, workspace_id: workspaceId }, portion }
    })
    const botVisits = one.botVisits.map((visit) => ({ ...visit, workspace_id: workspaceId }))
    const own = withOwnEmails({ ...one, workspaceId, events: events.map(({ row }) => row), botVisits })
    for (const [nth, { portion }] of events.entries()) rows[portion]!.push(own.events[nth]!)
    await placePeople(stores, own)
    placed.push(own)
  }
  await insertBotVisitRows(
    stores.ch,
    placed.flatMap(({ botVisits }) => botVisits),
  )
  await stores.pg.transaction((tx) => insertInbox(tx, placedManifests++, placed.flatMap(inboxRows)))
  const portions = segments.map((first, at) => ({
    insert: async () => {
      await insertEventRows(stores.ch, rows[at]!)
      const end = first + segmentsPerPortion
      await stores.pg.query(
        `INSERT INTO segment_leases_taken (first_segment, end_segment, shipped_through) VALUES ($1, $2, $3)`,
        [first, end, end * segmentRowsMax - 1],
      )
      return end * segmentRowsMax - 1
    },
  }))
  return { placed, portions }
}
