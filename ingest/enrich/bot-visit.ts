/** The row of a crawler's visit, whichever endpoint told of it. */
import { emptyBotVisitRow } from '../../schemas/event/empty-row.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { identifierOf } from '../../schemas/event/identifiers.ts'
import {
  type BotVisitRow,
  botCategories,
  botReporters,
  botVerified,
  kinds,
  verificationMethods,
} from '../../schemas/event/row.ts'
import type { Bot } from '../../schemas/reference/known-bots.ts'
import type { AddressHash } from './address-hash.ts'
import { kindOf } from './copy-fields.ts'
import type { Facts } from './facts.ts'
import { keptReferrer, makePageUrl, namedPath, readPageUrl, rooted } from './page-url.ts'

/** Made once and used for every visit. */
export function makeBotVisitRow(): BotVisitRow {
  return {
    ...emptyBotVisitRow(),
    category: botCategories.other,
    verified: botVerified.unknown,
    verification_method: verificationMethods.none,
    reported_by: botReporters.track,
  }
}

const page = makePageUrl()

/** Where the visit went, without the values of click ids. */
export function fillLocation(row: BotVisitRow, url: string, path: string, referrer: string): void {
  readPageUrl(url || rooted(path), page)
  row.path = (url !== '' && namedPath(path)) || page.path
  row.url = url === '' ? '' : page.url
  row.referrer = referrer === '' ? '' : keptReferrer(referrer)
}

export function fillBot(row: BotVisitRow, { name, operator, category }: Bot): void {
  row.bot_name = name
  row.operator = operator
  row.category = botCategories[category]
}

/** A page that is loaded once is one visit, however many events its script sends. */
function isPageview(event: TrackEvent): boolean {
  return kindOf(event) === kinds.pageview
}

/** Fills `row` from an event of the tracking endpoint that a bot sent: its time is in the event's own row already. */
export function fillFromEvent(
  row: BotVisitRow,
  { event, sender, workspace, agent, row: own }: Facts,
  bot: Bot,
  hash: AddressHash,
): void {
  row.workspace_id = workspace.id
  row.occurred_at = own.occurred_at
  row.received_at = own.received_at
  row.reported_by = isPageview(event) ? botReporters.track : botReporters.track_event
  row.client_event_id = identifierOf(event.client_event_id) ?? ''
  row.user_agent = agent.text.toWellFormed()
  row.ip_hash = hash(workspace.id, event.ip || sender.address, sender.receivedAt)
  fillBot(row, bot)
  fillLocation(row, event.url ?? '', event.path ?? '', event.referrer ?? '')
}
