/** Finds whose events are, as of now: a later identify changes it. The rule is that of clickhouse/queries/people/contact-events.ts. */
import type { Queryable } from '../../client.ts'
import { readBindingsOfBrowsers, type StoredBinding } from './bindings.ts'
import { findContactsByHash } from './contacts.ts'

/** The names that tell whose event it is. */
interface Known {
  readonly id: number
  /** Decimal text; '0' for none. */
  readonly email_hash: string
  readonly anonymous_id: string
  readonly occurred_at_ms: number
}

/** By the event's id; an event of nobody known is not there. */
export async function readContactsOfEvents(
  pg: Queryable,
  workspaceId: number,
  events: readonly Known[],
): Promise<Map<number, number>> {
  const hashes = new Set(events.map(({ email_hash }) => email_hash).filter((hash) => hash !== '0'))
  const browsers = new Set(events.map(({ anonymous_id }) => anonymous_id).filter((id) => id !== ''))
  const found =
    hashes.size === 0
      ? []
      : await findContactsByHash(
          pg,
          [...hashes].map((hash) => ({ workspaceId, hash })),
        )
  const bindings = browsers.size === 0 ? [] : await readBindingsOfBrowsers(pg, workspaceId, [...browsers])
  const contactOf = new Map(found.map(({ emailHash, contactId }) => [emailHash, contactId]))
  const contacts = new Map<number, number>()
  for (const event of events) {
    const contact = contactOf.get(event.email_hash) ?? boundAt(bindings, event)
    if (contact !== undefined) contacts.set(event.id, contact)
  }
  return contacts
}

/** @param bindings in order of time within a browser */
function boundAt(bindings: readonly StoredBinding[], { id, anonymous_id, occurred_at_ms }: Known): number | undefined {
  return bindings.findLast(
    ({ anonymousId, fromAt, fromId }) =>
      anonymousId === anonymous_id && (fromAt < occurred_at_ms || (fromAt === occurred_at_ms && fromId <= id)),
  )?.contactId
}
