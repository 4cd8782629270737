/** Finds whose stored events are, by their own e-mail. The inbox has it, or the hash of the row is that of a contact. */
import type { StoredEvent } from '../../clickhouse/queries/stored-events.ts'
import type { Queryable } from '../../postgres/client.ts'
import { readEmailsOfHashes } from '../../postgres/tables/people/contacts.ts'
import { readInboxPeople } from '../../postgres/tables/people/inbox.ts'
import type { ExportedPerson } from './exported-line.ts'

/** @returns the person of an event; nothing of events that named nobody, or somebody who was erased */
export async function readPeopleOf(
  q: Queryable,
  workspaceId: number,
  events: readonly StoredEvent[],
): Promise<(event: StoredEvent) => ExportedPerson> {
  const named = events.filter(({ event_type }) => event_type !== 'track').map(({ id }) => id)
  const hashes = new Set(events.map(({ email_hash }) => email_hash).filter((hash) => hash !== '0'))
  const inbox: ReadonlyMap<number, ExportedPerson> =
    named.length === 0 ? new Map() : await readInboxPeople(q, workspaceId, named)
  const emails: ReadonlyMap<string, string> =
    hashes.size === 0 ? new Map() : await readEmailsOfHashes(q, workspaceId, [...hashes])
  return ({ id, email_hash }) => {
    const { email, fullName } = inbox.get(id) ?? {}
    return { email: email ?? emails.get(email_hash), fullName }
  }
}
