/** Contacts with the counts of what the workspace may read. Their stored counts are of all events that are kept. */
import { gatherContacts, sumContacts } from '../../../clickhouse/queries/people/contact-events.ts'
import { readBindingsOfContacts } from '../../../postgres/tables/people/bindings.ts'
import { type Contact, findContactsByHash, readContactKeys } from '../../../postgres/tables/people/contacts.ts'
import type { Stores } from '../define.ts'
import type { ReadableVisitors } from './readable-visitors.ts'

/**
 * Those with events from before `since` are counted anew: after a change of plan or retention, until what isn't readable is
 * deleted.
 * @param contacts seen since then
 * @returns in the same order
 */
export async function readableContacts(
  { pg, ch }: Pick<Stores, 'pg' | 'ch'>,
  contacts: readonly Contact[],
  { workspaceId, timezone, since }: ReadableVisitors,
): Promise<readonly Contact[]> {
  const ids = contacts.filter(({ firstSeenAt }) => firstSeenAt < since).map(({ id }) => id)
  if (ids.length === 0) return contacts
  const gathered = await gatherContacts(ch, {
    wanted: await readContactKeys(pg, ids),
    bindings: await readBindingsOfContacts(pg, ids),
    findByHash: (hashes) => findContactsByHash(pg, hashes),
  })
  const timezones = new Map([[workspaceId, timezone]])
  const summed = await sumContacts(ch, gathered, { timezones, since })
  const sums = new Map(summed.map((sum) => [sum.contactId, sum]))
  return contacts.map((contact) => {
    if (contact.firstSeenAt >= since) return contact
    const { sessions = 0, events = 0, conversions = 0, firstAt = contact.lastSeenAt } = sums.get(contact.id) ?? {}
    return {
      ...contact,
      sessionCount: sessions,
      eventCount: events,
      conversionCount: conversions,
      firstSeenAt: firstAt,
    }
  })
}
