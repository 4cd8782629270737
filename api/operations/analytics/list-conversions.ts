/** GET /v1/analytics/conversions: conversions, each with its touches, the one that it is credited to, and by which rule. */
import { z } from 'zod'
import {
  type CreditedConversion,
  readCredits,
  readTouchesBefore,
  type VisitorTouch,
} from '../../../clickhouse/queries/conversions.ts'
import { findEventPoint } from '../../../clickhouse/queries/event-point.ts'
import { gatherContacts } from '../../../clickhouse/queries/people/contact-events.ts'
import { type ContactTouchEvent, readTouchesOfContacts } from '../../../clickhouse/queries/people/contact-touches.ts'
import { readEventsAt } from '../../../clickhouse/queries/people/visitors.ts'
import { serializeEvents } from '../../../clickhouse/queries/serialize-event.ts'
import { readBindingsOfContacts } from '../../../postgres/tables/people/bindings.ts'
import { findContactsByHash, readContactKeys } from '../../../postgres/tables/people/contacts.ts'
import { readContactsOfEvents } from '../../../postgres/tables/people/contacts-of-events.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { creditWindowMs } from '../../../schemas/limits/figure-limits.ts'
import { conversionsDefault, conversionsMax, touchesOfConversionMax } from '../../../schemas/limits/overview-limits.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { type Conversion, Conversions } from '../../../schemas/resources/conversion.ts'
import { beforeId } from '../../../schemas/resources/page.ts'
import { hourMs, localDayAt } from '../../../schemas/time/time-zone.ts'
import { type Context, defineOperation } from '../define.ts'
import { readableVisitors } from '../people/readable-visitors.ts'
import { rangeOf, rangeParameters, readableSpan, shownRange } from './range-query.ts'

const ConversionsQuery = z.object({
  ...rangeParameters,
  limit: laxIntOr(conversionsDefault, {
    ge: 1,
    le: conversionsMax,
    description: 'The newest so many.',
  }),
  before_id: beforeId('event'),
})

type ConversionsContext = Context<{ readonly query: typeof ConversionsQuery }>

export const listConversions = defineOperation({
  name: 'conversions.list',
  http: { method: 'GET', path: '/v1/analytics/conversions' },
  tool: 'svc.list_conversions',
  summary: 'List conversions with what they are credited to.',
  description:
    'Each with the touches of its contact, or else of its visitor, in the 30 days before, the credited one and the rule.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: ConversionsQuery },
  output: Conversions,
  async handle(context) {
    const { query, stores, clock } = context
    const rows = await readableVisitors(context)
    const range = rangeOf(query, rows.timezone, clock.now())
    const { start, end } = readableSpan(range, rows, clock.now())
    const days = { from: localDayAt(start, rows.timezone), to: localDayAt(end, rows.timezone) }
    const before = await findEventPoint(stores.ch, context.workspace.id, query.before_id)
    const credited = before
      ? await readCredits(stores.ch, { ...rows, start, end, days, before, limit: query.limit })
      : []
    const events = await eventsOf(context, credited)
    const contactOf = ({ id }: CreditedConversion) => events.get(id)?.contact_id ?? undefined
    const ofNobody = credited.filter((one) => contactOf(one) === undefined)
    const [ofVisitors, ofContacts] = await Promise.all([
      readTouchesBefore(stores.ch, rows, ofNobody),
      touchesOfContacts(
        context,
        credited.flatMap((one) => {
          const contactId = contactOf(one)
          return contactId === undefined ? [] : [{ contactId, id: one.id, at: one.at }]
        }),
      ),
    ])
    const touchesOf = (one: CreditedConversion) =>
      contactOf(one) === undefined
        ? ofVisitors.filter(({ visitor }) => visitor === one.visitor)
        : ofContacts.filter(({ contactId }) => contactId === contactOf(one))
    return {
      range: shownRange(range),
      conversions: credited.flatMap((one) => {
        const event = events.get(one.id)
        // It may have been erased since it was credited.
        return event === undefined
          ? []
          : [{ event, credit: shownCredit(one), touches: shownTouches(one, touchesOf(one)) }]
      }),
    }
  },
})

/** By id. */
async function eventsOf({ workspace, stores }: ConversionsContext, credited: readonly CreditedConversion[]) {
  const places = credited.map(({ id, visitor, at }) => ({ id, visitor, hour: Math.floor(at / hourMs) }))
  const events = await readEventsAt(stores.ch, workspace.id, places)
  const contacts = await readContactsOfEvents(stores.pg, workspace.id, events)
  return new Map(serializeEvents(events, contacts).map((event) => [event.id, event]))
}

/** @param conversions those of contacts that are shown */
async function touchesOfContacts(
  { stores: { pg, ch } }: ConversionsContext,
  conversions: readonly { readonly contactId: number; readonly id: number; readonly at: number }[],
): Promise<ContactTouchEvent[]> {
  if (conversions.length === 0) return []
  const contactIds = [...new Set(conversions.map(({ contactId }) => contactId))]
  const contacts = await gatherContacts(ch, {
    wanted: await readContactKeys(pg, contactIds),
    bindings: await readBindingsOfContacts(pg, contactIds),
    findByHash: (hashes) => findContactsByHash(pg, hashes),
  })
  return readTouchesOfContacts(
    ch,
    contacts,
    conversions.map(({ contactId, id, at }) => ({ whose: String(contactId), id, at })),
  )
}

function shownCredit({ rule, source, medium, touchedAt }: CreditedConversion): Conversion['credit'] {
  const touched_at = rule === 'touch' ? new Date(touchedAt).toISOString() : null
  return { rule, source, medium, channel: channelOf(source, medium), touched_at }
}

type ShownTouch = Omit<VisitorTouch, 'visitor'>

/**
 * The credited one is the newest: a touch at the conversion's own moment comes before it if its id does.
 * @param touches of its visitor or contact, newest first
 */
function shownTouches(one: CreditedConversion, touches: readonly ShownTouch[]): Conversion['touches'] {
  const isBefore = ({ at, id }: ShownTouch) => at < one.at || (at === one.at && id <= one.id)
  // A server event that names a source is its own touch.
  const isCredited = ({ id, at, source, medium }: ShownTouch) =>
    one.rule === 'event'
      ? id === one.id
      : one.rule === 'touch' && at === one.touchedAt && source === one.source && medium === one.medium
  const own = touches.filter((touch) => isBefore(touch) && touch.at >= one.at - creditWindowMs)
  const credited = own.find(isCredited)
  return own.slice(0, touchesOfConversionMax).map((touch) => ({
    event_id: touch.id,
    occurred_at: new Date(touch.at).toISOString(),
    source: touch.source,
    medium: touch.medium,
    campaign: touch.campaign,
    content: touch.content,
    is_credited: touch === credited,
  }))
}
