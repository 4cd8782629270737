/** GET /v1/analytics/conversions: conversions, each with its touches, the one that it is credited to, and by which rule. */
import { z } from 'zod'
import {
  type CreditedConversion,
  readCredits,
  readTouchesBefore,
  type VisitorTouch,
} from '../../../clickhouse/queries/conversions.ts'
import { readEventsAt } from '../../../clickhouse/queries/people/visitors.ts'
import { laxIntOr } from '../../../schemas/lax.ts'
import { conversionsDefault, conversionsMax, creditWindowMs, touchesOfConversionMax } from '../../../schemas/limits.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { type Conversion, Conversions } from '../../../schemas/resources/conversion.ts'
import { hourMs, localDayAt } from '../../../schemas/time-zone.ts'
import { type Context, defineOperation } from '../define.ts'
import { readContactsOfEvents } from '../people/contacts-of-events.ts'
import { readableVisitors } from '../people/visitor-rows.ts'
import { recentEventRows } from './lists.ts'
import { rangeOf, rangeParameters, shownRange } from './range-query.ts'

const ConversionsQuery = z.object({
  ...rangeParameters,
  limit: laxIntOr(conversionsDefault, {
    ge: 1,
    le: conversionsMax,
    description: 'The newest so many; older ones with an earlier `end`.',
  }),
})

type ConversionsContext = Context<{ readonly query: typeof ConversionsQuery }>

export const listConversions = defineOperation({
  name: 'conversions.list',
  http: { method: 'GET', path: '/v1/analytics/conversions' },
  summary: 'List conversions with what they are credited to.',
  description:
    'Each with the touches of its visitor in the 30 days before, the one that is credited, and by which rule.',
  tag: 'Analytics',
  effect: 'read',
  scope: 'analytics:read',
  input: { query: ConversionsQuery },
  output: Conversions,
  async handle(context) {
    const { query, stores, clock } = context
    const rows = await readableVisitors(context)
    const range = rangeOf(query, rows.timezone, clock.now())
    const start = Math.max(range.start, rows.since)
    const end = Math.max(start, range.end)
    const days = { from: localDayAt(start, rows.timezone), to: localDayAt(end, rows.timezone) }
    const credited = await readCredits(stores.ch, { ...rows, start, end, days, limit: query.limit })
    const [events, touches] = await Promise.all([
      eventsOf(context, credited),
      readTouchesBefore(stores.ch, rows, credited),
    ])
    return {
      range: shownRange(range),
      conversions: credited.flatMap((one) => {
        const event = events.get(one.id)
        // It may have been erased since it was credited.
        return event === undefined ? [] : [{ event, credit: shownCredit(one), touches: shownTouches(one, touches) }]
      }),
    }
  },
})

/** By id. */
async function eventsOf({ workspace, stores }: ConversionsContext, credited: readonly CreditedConversion[]) {
  const places = credited.map(({ id, visitor, at }) => ({ id, visitor, hour: Math.floor(at / hourMs) }))
  const events = await readEventsAt(stores.ch, workspace.id, places)
  const contacts = await readContactsOfEvents(stores.pg, workspace.id, events)
  return new Map(recentEventRows(events, contacts).map((event) => [event.id, event]))
}

function shownCredit({ rule, source, medium, touchedAt }: CreditedConversion): Conversion['credit'] {
  const touched_at = rule === 'touch' ? new Date(touchedAt).toISOString() : null
  return { rule, source, medium, channel: channelOf(source, medium), touched_at }
}

/** The credited one is the newest: a touch at the conversion's own moment comes before it if its id does. */
function shownTouches(one: CreditedConversion, touches: readonly VisitorTouch[]): Conversion['touches'] {
  const isBefore = ({ at, id }: VisitorTouch) => at < one.at || (at === one.at && id <= one.id)
  return touches
    .filter((touch) => touch.visitor === one.visitor && isBefore(touch) && touch.at >= one.at - creditWindowMs)
    .slice(0, touchesOfConversionMax)
    .map(({ id, at, source, medium, campaign, content }, nth) => ({
      event_id: id,
      occurred_at: new Date(at).toISOString(),
      ...{ source, medium, campaign, content },
      is_credited: nth === 0 && one.rule === 'touch',
    }))
}
