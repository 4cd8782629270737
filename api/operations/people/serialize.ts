/** People as the API shows them. */
import type { VisitorSums, VisitorTexts } from '../../../clickhouse/queries/people/visitors.ts'
import type { Contact, ContactTouch } from '../../../postgres/tables/contacts.ts'
import type { PaymentOfPerson } from '../../../postgres/tables/revenue-of-people.ts'
import type { Journey, Person } from '../../../schemas/resources/person.ts'
import { journeyPaymentsMax } from '../../../schemas/revenue-limits.ts'

const direct = { source: 'direct', medium: 'none', campaign: '', content: '' }

type Touches = Pick<VisitorTexts, 'firstTouch' | 'lastTouch'>

function touchFields({ firstTouch, lastTouch }: Touches) {
  const { source, medium, campaign, content } = lastTouch ?? direct
  const first = firstTouch ?? direct
  return {
    ...{ source, medium, campaign, content },
    ...{ first_source: first.source, first_medium: first.medium, first_campaign: first.campaign },
  }
}

function shownTime(ms: number): string {
  return new Date(ms).toISOString()
}

export function serializeTouch(touch: ContactTouch | null): Journey['first_touch'] {
  const { source, medium, campaign, content } = touch ?? direct
  return { source, medium, campaign, content, occurred_at: touch === null ? null : shownTime(touch.at) }
}

/** @param payments among others those of the contact */
export function serializeContact(contact: Contact, payments: readonly PaymentOfPerson[]): Person {
  const { id, email, fullName, company, sessionCount, eventCount, conversionCount, firstSeenAt, lastSeenAt } = contact
  return {
    ...{ id, object_id: `contact_${id}`, kind: 'known', contact_id: id, anonymous_id: null },
    ...{ email, full_name: fullName, company },
    ...touchFields(contact),
    ...{ session_count: sessionCount, event_count: eventCount, conversion_count: conversionCount },
    total_revenue_cents: totalOf(payments.filter(({ contactId }) => contactId === id)),
    ...{ first_seen_at: shownTime(firstSeenAt), last_seen_at: shownTime(lastSeenAt) },
  }
}

/** @param payments among others those that name the visitor's browser */
export function serializeVisitor(visitor: VisitorSums & VisitorTexts, payments: readonly PaymentOfPerson[]): Person {
  const { sessions, events, conversions, firstAt, lastAt, anonymousId } = visitor
  return {
    ...{ id: null, object_id: null, kind: 'anonymous', contact_id: null },
    anonymous_id: anonymousId || nameOfVisitor(visitor.visitor),
    ...{ email: null, full_name: '', company: '' },
    ...touchFields(visitor),
    ...{ session_count: sessions, event_count: events, conversion_count: conversions },
    total_revenue_cents: totalOf(
      payments.filter((payment) => anonymousId !== '' && payment.anonymousId === anonymousId),
    ),
    ...{ first_seen_at: shownTime(firstAt), last_seen_at: shownTime(lastAt) },
  }
}

/** What no rate converts is left out. */
function totalOf(payments: readonly PaymentOfPerson[]): number {
  return payments.reduce((sum, { cents }) => sum + (cents ?? 0), 0)
}

export function serializePayments(payments: readonly PaymentOfPerson[]): Journey['revenue'] {
  return payments
    .slice(0, journeyPaymentsMax)
    .map(({ id, provider, valueCents, currency, occurredAt, source, campaign }) => ({
      ...{ id, provider, value_cents: valueCents, currency, occurred_at: shownTime(occurredAt), source, campaign },
    }))
}

const namePattern = /^visitor_([0-9a-f]{16})$/

/** What a visitor whose browser has no id of its own is asked for by. */
function nameOfVisitor(visitor: string): string {
  return `visitor_${BigInt(visitor).toString(16).padStart(16, '0')}`
}

/** The visitor of such a name; undefined for any other text. */
export function visitorOfName(name: string): string | undefined {
  const hex = namePattern.exec(name)?.[1]
  return hex === undefined ? undefined : BigInt(`0x${hex}`).toString()
}
