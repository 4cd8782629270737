/** Credits a contact's conversions to the touches of the person, and finds the credits that changed. */

import type { TouchedConversion } from '../../clickhouse/queries/people/contact-touches.ts'
import type { ContactKey } from '../../postgres/tables/people/contacts.ts'
import type { PersonCredit, PersonCreditChanges } from '../../postgres/tables/people/person-credits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'

export interface CreditedContacts {
  readonly contacts: readonly ContactKey[]
  /** Their touched conversions. */
  readonly touched: readonly TouchedConversion[]
  readonly stored: readonly PersonCredit[]
  /** By workspace: the moment before which events may be deleted by now, in milliseconds since 1970. */
  readonly keptFrom: ReadonlyMap<number, number>
}

/** A credit by a touch that may be deleted by now stays, unless a later touch of the contact takes its place. */
export function creditChanges({ contacts, touched, stored, keptFrom }: CreditedContacts): PersonCreditChanges {
  const workspaceOf = new Map(contacts.map(({ contactId, workspaceId }) => [contactId, workspaceId]))
  const before = new Map(stored.map((credit) => [credit.eventId, credit]))
  const mayBeDeleted = ({ workspaceId, touchedAt }: PersonCredit) => touchedAt < (keptFrom.get(workspaceId) ?? 0)
  const changed: PersonCredit[] = []
  const credited = new Set<number>()
  for (const { at, ...credit } of touched) {
    credited.add(credit.eventId)
    const known = before.get(credit.eventId)
    if (known !== undefined && (isSame(known, credit) || (credit.source === '' && mayBeDeleted(known)))) continue
    changed.push({ ...credit, workspaceId: workspaceOf.get(credit.contactId)!, hour: Math.floor(at / hourMs) })
  }
  const gone = stored.filter((known) => !credited.has(known.eventId) && !mayBeDeleted(known))
  return { changed, gone }
}

type Credited = Pick<PersonCredit, 'contactId' | 'source' | 'medium' | 'touchedAt' | 'touchedBy'>

function isSame(one: Credited, other: Credited): boolean {
  return (
    one.contactId === other.contactId &&
    one.source === other.source &&
    one.medium === other.medium &&
    one.touchedAt === other.touchedAt &&
    one.touchedBy === other.touchedBy
  )
}
