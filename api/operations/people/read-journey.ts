/** GET /v1/people/journey: one person with what they did, whichever of their browsers they did it with. */
import { z } from 'zod'
import { findEventPoint, type NewestEvents } from '../../../clickhouse/queries/event-point.ts'
import type { RecentEvent } from '../../../clickhouse/queries/overview/read-recent-events.ts'
import { gatherContacts, readNewestPlaces } from '../../../clickhouse/queries/people/contact-events.ts'
import { findVisitor } from '../../../clickhouse/queries/people/visitor-names.ts'
import { readEventsAt, readEventsOfVisitor, readVisitors } from '../../../clickhouse/queries/people/visitors.ts'
import { serializeEvents } from '../../../clickhouse/queries/serialize-event.ts'
import {
  readBindingsOfBrowsers,
  readBindingsOfContacts,
  readBindingsOfVisitors,
} from '../../../postgres/tables/people/bindings.ts'
import {
  type Contact,
  findContact,
  findContactsByHash,
  readContactKeys,
} from '../../../postgres/tables/people/contacts.ts'
import { readContactsOfEvents } from '../../../postgres/tables/people/contacts-of-events.ts'
import { serializeContact } from '../../../postgres/tables/people/serialize-contact.ts'
import {
  listPaymentsOfPeople,
  type PaymentsRequest,
  sumRevenueOfPeople,
} from '../../../postgres/tables/revenue/revenue-of-people.ts'
import { invalid, problem } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { emailOf } from '../../../schemas/event/identifiers.ts'
import { idToLookUp, laxIntOr } from '../../../schemas/lax.ts'
import { identifierLengthMax } from '../../../schemas/limits/event-limits.ts'
import { journeyEventsDefault, journeyEventsMax } from '../../../schemas/limits/people-limits.ts'
import { beforeId } from '../../../schemas/resources/page.ts'
import { Journey } from '../../../schemas/resources/person.ts'
import { type Context, defineOperation } from '../define.ts'
import { readableContacts } from './readable-contacts.ts'
import { type ReadableVisitors, readableVisitors } from './readable-visitors.ts'
import { serializePayments, serializeTouch, serializeVisitor } from './serialize.ts'

const JourneyQuery = z.object({
  email: z.string().max(identifierLengthMax).optional().meta({ description: 'Of a contact, in any case.' }),
  contact_id: idToLookUp('contact', 'The `id` of a contact.'),
  anonymous_id: z.string().max(identifierLengthMax).optional().meta({
    description: 'Of a browser. One that is bound to a contact names the contact; of several, the last.',
  }),
  limit: laxIntOr(journeyEventsDefault, { ge: 1, le: journeyEventsMax, description: 'Events, at most.' }),
  before_id: beforeId('event'),
})

type JourneyContext = Context<{ readonly query: typeof JourneyQuery }>

export const readJourney = defineOperation({
  name: 'journey.read',
  http: { method: 'GET', path: '/v1/people/journey' },
  tool: 'svc.person_journey',
  summary: 'Read the journey of one person.',
  description: 'Named by exactly one of `email`, `contact_id` and `anonymous_id`.',
  tag: 'People',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: JourneyQuery },
  output: Journey,
  problems: ['person_not_found'],
  async handle(context) {
    const { email, contact_id, anonymous_id } = context.query
    const given = [email, contact_id, anonymous_id].filter((value) => value !== undefined)
    if (given.length !== 1) {
      throw invalid([valueError(['query'], null, 'Exactly one of email, contact_id and anonymous_id is needed')])
    }
    const contact = await findNamed(context)
    const rows = await readableVisitors(context)
    if (contact !== undefined && contact.lastSeenAt >= rows.since) return journeyOfContact(context, contact, rows)
    if (contact !== undefined || anonymous_id === undefined) throw problem('person_not_found')
    return journeyOfVisitor(context, anonymous_id, rows)
  },
})

async function findNamed({ query, workspace, stores }: JourneyContext): Promise<Contact | undefined> {
  const { pg } = stores
  const { email, contact_id, anonymous_id } = query
  if (contact_id !== undefined) return findContact(pg, workspace.id, { id: contact_id })
  if (email !== undefined) {
    const address = emailOf(email)
    return address === null ? undefined : findContact(pg, workspace.id, { email: address })
  }
  const last = (await readBindingsOfBrowsers(pg, workspace.id, [anonymous_id!])).at(-1)
  return last && findContact(pg, workspace.id, { id: last.contactId })
}

async function journeyOfContact(
  { query, workspace, stores: { pg, ch } }: JourneyContext,
  contact: Contact,
  rows: ReadableVisitors,
): Promise<Journey> {
  const { since } = rows
  const bindings = await readBindingsOfContacts(pg, [contact.id])
  const contacts = await gatherContacts(ch, {
    wanted: await readContactKeys(pg, [contact.id]),
    bindings,
    findByHash: (hashes) => findContactsByHash(pg, hashes),
  })
  const events = await eventsBehind(ch, workspace.id, query, (newest) =>
    readNewestPlaces(ch, contacts, { since, ...newest }).then((places) => readEventsAt(ch, workspace.id, places)),
  )
  const own = bindings.filter(({ contactId }) => contactId === contact.id)
  const asked: PaymentsRequest = {
    workspaceId: workspace.id,
    currency: workspace.currency,
    since,
    contactIds: [contact.id],
    anonymousIds: [],
  }
  const [payments, sums] = await Promise.all([listPaymentsOfPeople(pg, asked), sumRevenueOfPeople(pg, asked)])
  const [shown] = await readableContacts({ pg, ch }, [contact], rows)
  const person = serializeContact(shown!, sums)
  return {
    person,
    anonymous_ids: [...new Set(own.map(({ anonymousId }) => anonymousId))],
    ...countsOf(person),
    first_touch: serializeTouch(contact.firstTouch),
    last_touch: serializeTouch(contact.lastTouch),
    events: serializeEvents(events, new Map(events.map(({ id }) => [id, contact.id]))),
    revenue: serializePayments(payments),
  }
}

async function journeyOfVisitor(
  { query, workspace, stores }: JourneyContext,
  anonymousId: string,
  rows: ReadableVisitors,
): Promise<Journey> {
  const { pg, ch, hashes } = stores
  const sought = await findVisitor(ch, hashes, workspace.id, anonymousId)
  const visitor = (await readVisitors(ch, rows, [{ visitor: sought }])).get(sought)
  if (visitor === undefined) throw problem('person_not_found')
  // By the name of a hash nobody reads what a contact did.
  const bound = await readBindingsOfVisitors(pg, [{ workspaceId: workspace.id, visitor: visitor.visitor }])
  if (bound.length > 0) throw problem('person_not_found')
  const events = await eventsBehind(ch, workspace.id, query, (newest) =>
    readEventsOfVisitor(ch, rows, visitor.visitor, { since: rows.since, ...newest }),
  )
  const asked: PaymentsRequest = {
    workspaceId: workspace.id,
    currency: workspace.currency,
    since: rows.since,
    contactIds: [],
    anonymousIds: visitor.anonymousId === '' ? [] : [visitor.anonymousId],
  }
  const [payments, sums] = await Promise.all([listPaymentsOfPeople(pg, asked), sumRevenueOfPeople(pg, asked)])
  const person = serializeVisitor(visitor, sums)
  return {
    person,
    anonymous_ids: [person.anonymous_id!],
    ...countsOf(person),
    first_touch: serializeTouch(visitor.firstTouch),
    last_touch: serializeTouch(visitor.lastTouch),
    events: serializeEvents(events, await readContactsOfEvents(pg, workspace.id, events)),
    revenue: serializePayments(payments),
  }
}

/** None, behind an event that isn't there. */
async function eventsBehind(
  ch: JourneyContext['stores']['ch'],
  workspaceId: number,
  { before_id, limit }: JourneyContext['query'],
  read: (newest: Pick<NewestEvents, 'before' | 'limit'>) => Promise<RecentEvent[]>,
): Promise<RecentEvent[]> {
  const before = await findEventPoint(ch, workspaceId, before_id)
  return before === undefined ? [] : read({ before, limit })
}

function countsOf({ session_count, event_count, conversion_count, total_revenue_cents }: Journey['person']) {
  return { session_count, event_count, conversion_count, total_revenue_cents }
}
