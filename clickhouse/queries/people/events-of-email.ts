/** Events that have an e-mail, whether or not it is a contact's. */
import type { ClickHouse } from '../../client.ts'

/** Goes through all events of the workspace. It is asked in a transaction, which Postgres ends after half a minute of nothing. */
const scanDeadlineMs = 20_000

/** @param emailHash decimal text */
export async function hasEventsOfEmail(
  ch: Pick<ClickHouse, 'query'>,
  workspaceId: number,
  emailHash: string,
): Promise<boolean> {
  const found = await ch.query(
    'SELECT 1 FROM events WHERE workspace_id = {workspace:UInt32} AND email_hash = toUInt64({hash:String}) LIMIT 1',
    { workspace: workspaceId, hash: emailHash },
    { deadlineMs: scanDeadlineMs },
  )
  return found.length > 0
}
