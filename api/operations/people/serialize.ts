/** People as the API shows them. */
import { nameOfVisitor } from '../../../clickhouse/queries/people/visitor-names.ts'
import type { VisitorSums, VisitorTexts } from '../../../clickhouse/queries/people/visitors.ts'
import { direct, shownTime, touchFields } from '../../../postgres/tables/people/serialize-contact.ts'
import type { PaymentOfPerson, RevenueOfPeople } from '../../../postgres/tables/revenue/revenue-of-people.ts'
import type { Touch } from '../../../schemas/event/touch.ts'
import type { Journey, Person } from '../../../schemas/resources/person.ts'

export function serializeTouch(touch: Touch | null): Journey['first_touch'] {
  const { source, medium, campaign, content } = touch ?? direct
  return { source, medium, campaign, content, occurred_at: touch === null ? null : shownTime(touch.at) }
}

/** @param revenue of the visitor's browser, among others */
export function serializeVisitor(visitor: VisitorSums & VisitorTexts, revenue: RevenueOfPeople): Person {
  const { sessions, events, conversions, firstAt, lastAt, anonymousId } = visitor
  return {
    id: null,
    object_id: null,
    kind: 'anonymous',
    contact_id: null,
    anonymous_id: anonymousId || nameOfVisitor(visitor.visitor),
    email: null,
    full_name: '',
    company: '',
    ...touchFields(visitor),
    session_count: sessions,
    event_count: events,
    conversion_count: conversions,
    total_revenue_cents: (anonymousId && revenue.ofBrowsers.get(anonymousId)) || 0,
    first_seen_at: shownTime(firstAt),
    last_seen_at: shownTime(lastAt),
  }
}

export function serializePayments(payments: readonly PaymentOfPerson[]): Journey['revenue'] {
  return payments.map(({ id, provider, valueCents, currency, occurredAt, source, campaign }) => ({
    id,
    provider,
    value_cents: valueCents,
    currency,
    occurred_at: shownTime(occurredAt),
    source,
    campaign,
  }))
}
