/**
 * GET /v1/people: contacts and anonymous visitors in one list, last seen first. Contacts come from Postgres; visitors
 * from ClickHouse, those left out that are bound to a contact. At the same moment contacts come before visitors.
 */
import { z } from 'zod'
import {
  isOriginOfVisitors,
  readNewestVisitors,
  type SeenVisitor,
} from '../../../clickhouse/queries/people/newest-visitors.ts'
import { findVisitor } from '../../../clickhouse/queries/people/visitor-names.ts'
import { readVisitors } from '../../../clickhouse/queries/people/visitors.ts'
import { columnEnd } from '../../../clickhouse/queries/reader.ts'
import { readBindingsOfVisitors } from '../../../postgres/tables/people/bindings.ts'
import { findContact } from '../../../postgres/tables/people/contacts.ts'
import { listContacts } from '../../../postgres/tables/people/list-contacts.ts'
import { serializeContact } from '../../../postgres/tables/people/serialize-contact.ts'
import { sumRevenueOfPeople } from '../../../postgres/tables/revenue/revenue-of-people.ts'
import { invalid } from '../../../schemas/errors/problems.ts'
import { valueError } from '../../../schemas/errors/validation-errors.ts'
import { idInQuery, laxIntOr } from '../../../schemas/lax.ts'
import { identifierLengthMax } from '../../../schemas/limits/event-limits.ts'
import {
  peopleDefault,
  peopleMax,
  peopleSearchLengthMax,
  shortSearchContactsMax,
} from '../../../schemas/limits/people-limits.ts'
import { Person } from '../../../schemas/resources/person.ts'
import { localDayAt } from '../../../schemas/time/time-zone.ts'
import { type Context, defineOperation, type Stores } from '../define.ts'
import { readableContacts } from './readable-contacts.ts'
import { type ReadableVisitors, readableVisitors } from './readable-visitors.ts'
import { serializeVisitor } from './serialize.ts'

const PeopleQuery = z.object({
  q: z
    .string()
    .max(peopleSearchLengthMax)
    .optional()
    .meta({
      description: `Letters of a contact's e-mail, name or company, or of a source or campaign. Without three letters or digits in a row only the newest ${shortSearchContactsMax.toLocaleString('en')} contacts are searched.`,
    }),
  limit: laxIntOr(peopleDefault, { ge: 1, le: peopleMax, description: 'Rows, at most.' }),
  before_id: idInQuery('contact', 'What comes after the contact of this id.'),
  before_anonymous_id: z
    .string()
    .max(identifierLengthMax)
    .optional()
    .meta({ description: 'The same after an anonymous visitor: one of the two.' }),
})

type PeopleContext = Context<{ readonly query: typeof PeopleQuery }>

export const listPeople = defineOperation({
  name: 'person.list',
  http: { method: 'GET', path: '/v1/people' },
  tool: 'svc.list_people',
  summary: 'List people, those seen last first.',
  description: 'A contact is one row, whatever its browsers; other visitors are anonymous rows.',
  tag: 'People',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: PeopleQuery },
  output: z.array(Person),
  async handle(context) {
    const { query, workspace, stores } = context
    if (query.before_id !== undefined && query.before_anonymous_id !== undefined) {
      throw invalid([valueError(['query'], null, 'At most one of before_id and before_anonymous_id may be sent')])
    }
    const rows = await readableVisitors(context)
    const before = await beginOf(context, rows)
    if (before === undefined) return []
    const q = query.q?.trim() || undefined
    const [contacts, isOfVisitors] = await Promise.all([
      listContacts(stores.pg, workspace.id, {
        limit: query.limit,
        q,
        since: rows.since,
        before: before.contact,
      }),
      q === undefined || isOriginOfVisitors(stores.ch, rows, q),
    ])
    // Visitors older than the last contact of a full page have no place in it.
    const oldest = contacts.length < query.limit ? rows.since : contacts.at(-1)!.lastSeenAt + 1
    const page = { before: before.visitor, oldest, q, limit: query.limit }
    const seen = isOfVisitors ? await readAnonymous(stores, rows, page, context.clock.now()) : []
    const known = contacts.map((contact) => ({ at: contact.lastSeenAt, order: 0, contact }))
    const merged = [...known, ...seen.map(({ lastAt, visitor }) => ({ at: lastAt, order: 1, visitor }))]
      .sort((a, b) => b.at - a.at || a.order - b.order)
      .slice(0, query.limit)
    const shownContacts = merged.flatMap((one) => ('contact' in one ? one.contact : []))
    const shownVisitors = merged.flatMap((one) => ('visitor' in one ? { visitor: one.visitor, lastAt: one.at } : []))
    const [visitors, shown] = await Promise.all([
      readVisitors(stores.ch, rows, shownVisitors),
      readableContacts(stores, shownContacts, rows),
    ])
    const contactOf = new Map(shown.map((contact) => [contact.id, contact]))
    const revenue = await sumRevenueOfPeople(stores.pg, {
      workspaceId: workspace.id,
      currency: workspace.currency,
      since: rows.since,
      contactIds: [...contactOf.keys()],
      anonymousIds: [...visitors.values()].flatMap(({ anonymousId }) => anonymousId || []),
    })
    return merged.flatMap((one) => {
      if ('contact' in one) return serializeContact(contactOf.get(one.contact.id)!, revenue)
      const visitor = visitors.get(one.visitor)
      return visitor === undefined ? [] : serializeVisitor(visitor, revenue)
    })
  },
})

interface Begin {
  readonly contact: { readonly at: number; readonly id: number }
  readonly visitor: SeenVisitor
}

const greatestHash = String(2n ** 64n - 1n)

/** Where the page begins in each of the two lists; undefined after somebody who isn't there. */
async function beginOf(
  { query, workspace, stores }: PeopleContext,
  rows: ReadableVisitors,
): Promise<Begin | undefined> {
  const { before_id, before_anonymous_id } = query
  if (before_id !== undefined) {
    const contact = await findContact(stores.pg, workspace.id, { id: before_id })
    if (contact === undefined) return undefined
    const at = contact.lastSeenAt
    return { contact: { at, id: contact.id }, visitor: { lastAt: at, visitor: greatestHash } }
  }
  if (before_anonymous_id !== undefined) {
    const sought = await findVisitor(stores.ch, stores.hashes, workspace.id, before_anonymous_id)
    const last = (await readVisitors(stores.ch, rows, [{ visitor: sought }])).get(sought)
    return last && { contact: { at: last.lastAt, id: 0 }, visitor: { lastAt: last.lastAt, visitor: last.visitor } }
  }
  return {
    contact: { at: Number.MAX_SAFE_INTEGER, id: 0 },
    visitor: { lastAt: columnEnd, visitor: greatestHash },
  }
}

interface AnonymousPage {
  readonly before: SeenVisitor
  /** Only those last seen since. */
  readonly oldest: number
  readonly q: string | undefined
  readonly limit: number
}

/** The newest visitors that nobody is known to be. Looks further back, at more at once, until there are enough. */
async function readAnonymous(
  { pg, ch }: Stores,
  rows: ReadableVisitors,
  { before, oldest, q, limit }: AnonymousPage,
  now: number,
): Promise<SeenVisitor[]> {
  const found: SeenVisitor[] = []
  const { workspaceId, timezone } = rows
  const lastDay = localDayAt(Math.min(before.lastAt, now), timezone)
  const firstDay = Math.max(rows.firstDay, localDayAt(oldest, timezone))
  let from = before
  // Rows are of sessions, and the newest ones stand there in several versions.
  for (let days = 0, portion = 4 * limit; ; ) {
    // A match may lie on any day, however lately its visitor was seen: a search looks at all days at once.
    const fromDay = q === undefined ? Math.max(firstDay, lastDay - days) : rows.firstDay
    const page = { fromDay, since: oldest, before: from, limit: portion, q }
    const { visitors: seen, isCut } = await readNewestVisitors(ch, { ...rows, ...page })
    const bindings =
      seen.length === 0
        ? []
        : await readBindingsOfVisitors(
            pg,
            seen.map(({ visitor }) => ({ workspaceId, visitor })),
          )
    const bound = new Set(bindings.map(({ visitor }) => visitor))
    found.push(...seen.filter(({ visitor, isFound }) => isFound && !bound.has(visitor)))
    if (found.length >= limit) break
    if (isCut) {
      from = seen.at(-1)!
      portion *= 4
    } else {
      if (fromDay <= firstDay) break
      // Whoever was seen on a later day is found already: those behind them are earlier than all of these.
      from = seen.at(-1) ?? from
      days = Math.max(1, 4 * days)
    }
  }
  return found.slice(0, limit)
}
