/** Replays as the API shows them, and whose they are. */
import type { ReplayRow, ReplayTime } from '../../../clickhouse/queries/replays.ts'
import type { Queryable } from '../../../postgres/client.ts'
import { readBindingsOfVisitors, type StoredBinding } from '../../../postgres/tables/people/bindings.ts'
import type { Replay } from '../../../schemas/resources/replay.ts'

export async function serializeReplays(
  pg: Queryable,
  workspaceId: number,
  rows: readonly ReplayRow[],
): Promise<Replay[]> {
  const visitors = [...new Set(rows.map(({ visitor }) => visitor))]
  const bindings =
    visitors.length === 0
      ? []
      : await readBindingsOfVisitors(
          pg,
          visitors.map((visitor) => ({ workspaceId, visitor })),
        )
  return rows.map((row) => ({
    id: row.id,
    object_id: `replay_${row.id}`,
    session_id: row.sessionId,
    anonymous_id: row.anonymousId,
    contact_id: contactAt(bindings, row.visitor, row.endedAt),
    started_at: new Date(row.startedAt).toISOString(),
    duration_ms: row.endedAt - row.startedAt,
    pages: row.pages,
    entry_path: row.entryPath,
    clicks: row.clicks,
    device: row.device,
    browser: row.browser,
    country: row.country,
    bytes: row.bytes,
    event_count: row.eventCount,
  }))
}

/** When a contact's browsers were the contact's. @param bindings of whole browsers, in order of time within each */
export function timesOfContact(bindings: readonly StoredBinding[], contactId: number): ReplayTime[] {
  return bindings.flatMap(({ visitor, fromAt, contactId: whose }, at) => {
    if (whose !== contactId) return []
    const next = bindings[at + 1]
    return { visitor, fromAt, toAt: next?.visitor === visitor ? next.fromAt : null }
  })
}

function contactAt(bindings: readonly StoredBinding[], visitor: string, at: number): number | null {
  const own = bindings.filter((binding) => binding.visitor === visitor && binding.fromAt <= at)
  return own.at(-1)?.contactId ?? null
}
