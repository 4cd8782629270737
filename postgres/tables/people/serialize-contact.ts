/** Contacts as the API and webhooks show them. */
import type { Touch } from '../../../schemas/event/touch.ts'
import type { Person } from '../../../schemas/resources/person.ts'
import type { RevenueOfPeople } from '../revenue/revenue-of-people.ts'
import type { Contact } from './contacts.ts'

/** Where nobody is known to have come from. */
export const direct = { source: 'direct', medium: 'none', campaign: '', content: '' }

interface Touches {
  readonly firstTouch: Touch | null
  readonly lastTouch: Touch | null
}

/** @param revenue of the contact, among others */
export function serializeContact(contact: Contact, revenue: RevenueOfPeople): Person {
  const { id, email, fullName, company, sessionCount, eventCount, conversionCount, firstSeenAt, lastSeenAt } = contact
  return {
    id,
    object_id: `contact_${id}`,
    kind: 'known',
    contact_id: id,
    anonymous_id: null,
    email,
    full_name: fullName,
    company,
    ...touchFields(contact),
    session_count: sessionCount,
    event_count: eventCount,
    conversion_count: conversionCount,
    total_revenue_cents: revenue.ofContacts.get(id) ?? 0,
    first_seen_at: shownTime(firstSeenAt),
    last_seen_at: shownTime(lastSeenAt),
  }
}

/** The fields of a person that say where they came from. */
export function touchFields({ firstTouch, lastTouch }: Touches) {
  const { source, medium, campaign, content } = lastTouch ?? direct
  const first = firstTouch ?? direct
  return {
    source,
    medium,
    campaign,
    content,
    first_source: first.source,
    first_medium: first.medium,
    first_campaign: first.campaign,
  }
}

/** @param ms since 1970 */
export function shownTime(ms: number): string {
  return new Date(ms).toISOString()
}
