/** Names of visitors: the id of their browser, or the name of a hash where it has none. */
import type { IdentityHashes } from '../../../runtime/crypto/identity-hash.ts'
import type { ClickHouse } from '../../client.ts'

const namePattern = /^visitor_([0-9a-f]{16})$/

/** The name of a visitor whose browser has no id of its own. */
export function nameOfVisitor(visitor: string): string {
  return `visitor_${BigInt(visitor).toString(16).padStart(16, '0')}`
}

/**
 * The visitor that an id or a name means. A site's own ids may look like names, so an id that has visits is one.
 * @returns decimal text; nobody may have visited as it
 */
export async function findVisitor(
  ch: Pick<ClickHouse, 'query'>,
  hashes: IdentityHashes,
  workspaceId: number,
  name: string,
): Promise<string> {
  const hashed = hashes.visitorOf(workspaceId, name)
  const hex = namePattern.exec(name)?.[1]
  if (hex === undefined) return hashed
  const named = BigInt(`0x${hex}`).toString()
  const seen = await ch.query<{ seen: string }>(
    `SELECT DISTINCT toString(visitor) AS seen FROM visitors
     WHERE workspace_id = {workspace:UInt32} AND visitor IN (SELECT toUInt64(arrayJoin({visitors:Array(String)})))`,
    { workspace: workspaceId, visitors: [hashed, named] },
  )
  const isSeen = (visitor: string) => seen.some((one) => one.seen === visitor)
  return isSeen(hashed) || !isSeen(named) ? hashed : named
}
