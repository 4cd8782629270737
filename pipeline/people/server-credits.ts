/** Credits a contact's conversions by server events to its touches, and finds the credits that changed. */

import type { TouchedConversion } from '../../clickhouse/queries/people/contact-events.ts'
import type { ContactKey } from '../../postgres/tables/contacts.ts'
import type { ServerCredit, ServerCreditChanges } from '../../postgres/tables/server-credits.ts'
import { hourMs } from '../../schemas/time-zone.ts'

export interface CreditedContacts {
  readonly contacts: readonly ContactKey[]
  /** What their events come to. */
  readonly touched: readonly TouchedConversion[]
  readonly stored: readonly ServerCredit[]
  /** Of each workspace: events before this may be deleted by now. Milliseconds since 1970. */
  readonly keptFrom: ReadonlyMap<number, number>
}

/** A credit by a touch that may be deleted by now stays, unless a later touch takes its place. */
export function creditChanges({ contacts, touched, stored, keptFrom }: CreditedContacts): ServerCreditChanges {
  const workspaceOf = new Map(contacts.map(({ contactId, workspaceId }) => [contactId, workspaceId]))
  const before = new Map(stored.map((credit) => [credit.eventId, credit]))
  const changed: ServerCredit[] = []
  const credited = new Set<number>()
  for (const { at, ...credit } of touched) {
    credited.add(credit.eventId)
    const known = before.get(credit.eventId)
    if (known !== undefined && isSame(known, credit)) continue
    changed.push({ ...credit, workspaceId: workspaceOf.get(credit.contactId)!, hour: Math.floor(at / hourMs) })
  }
  const gone = stored.filter(
    ({ eventId, workspaceId, touchedAt }) => !credited.has(eventId) && touchedAt >= (keptFrom.get(workspaceId) ?? 0),
  )
  return { changed, gone }
}

type Credited = Pick<ServerCredit, 'contactId' | 'source' | 'medium' | 'touchedAt'>

function isSame(one: Credited, other: Credited): boolean {
  return (
    one.contactId === other.contactId &&
    one.source === other.source &&
    one.medium === other.medium &&
    one.touchedAt === other.touchedAt
  )
}
