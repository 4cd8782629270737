/**
 * Turns a valid event into the row that is stored, by a list of steps. They do no I/O and never wait; costly results
 * are cached. The sender's address ends here.
 */

import type { ValidationError } from '../../schemas/errors/validation-errors.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import type { BotVisitRow, EventRow } from '../../schemas/event/row.ts'
import type { SidePayload } from '../../schemas/event/side-payload.ts'
import type { Enriched, IngestWorkspace, Sender } from '../event-context.ts'
import { makeAddressHash } from './address-hash.ts'
import { fillFromEvent, makeBotVisitRow } from './bot-visit.ts'
import { classifySource } from './classify-source.ts'
import { copyFields } from './copy-fields.ts'
import type { Countries } from './countries.ts'
import { describeDevice } from './describe-device.ts'
import { type CountDropped, makeFacts, type Step } from './facts.ts'
import { findPlace, type PlaceDetail } from './find-place.ts'
import { type HashIdsOptions, hashIds } from './hash-ids.ts'
import { makeSites } from './hosts.ts'
import { markBot } from './mark-bot.ts'
import { matchLink, type Ownership } from './match-link.ts'
import { readLocation } from './read-location.ts'
import { readProperties } from './read-properties.ts'
import { resolveTime } from './resolve-time.ts'
import { sidePayloadOf } from './side-payload.ts'
import { makeUserAgents } from './user-agents.ts'

export interface Enricher {
  /**
   * The row of a valid event, or why it is refused after all. The row is the enricher's own and filled anew by the next
   * call. Errors stand at `['body', …]`.
   */
  enrich(event: TrackEvent, sender: Sender, workspace: IngestWorkspace): Enriched
}

export interface EnricherOptions extends HashIdsOptions {
  /** Null: no address is looked up. */
  readonly countries: Countries | null
  readonly placeDetail?: PlaceDetail
  readonly ownership: Ownership
  readonly countDropped?: CountDropped
}

export function makeEnricher(options: EnricherOptions): Enricher {
  const { secretKey, salts, countries, placeDetail = 'city', ownership, countDropped = () => {} } = options
  const steps: readonly Step[] = [
    resolveTime,
    markBot(makeUserAgents()),
    copyFields,
    readLocation,
    matchLink(ownership),
    classifySource(makeSites()),
    describeDevice,
    findPlace(countries, placeDetail),
    hashIds({ secretKey, salts }),
    readProperties,
  ]
  const facts = makeFacts(countDropped)
  const visit = makeBotVisitRow()
  const addressHash = makeAddressHash(salts)
  const stored: { stream: 'events'; row: EventRow; side: SidePayload | null } = {
    stream: 'events',
    row: facts.row,
    side: null,
  }
  const asBot: { stream: 'bot_visits'; row: BotVisitRow; side: null } = { stream: 'bot_visits', row: visit, side: null }

  return {
    enrich: (event, sender, workspace) => {
      facts.event = event
      facts.sender = sender
      facts.workspace = workspace
      for (const step of steps) {
        const verdict = step(facts)
        if (verdict === undefined) continue
        if (verdict !== 'bot') return rejected(verdict)
        fillFromEvent(visit, facts, facts.agent.bot!, addressHash)
        return asBot
      }
      stored.side = sidePayloadOf(facts)
      return stored
    },
  }
}

function rejected(detail: ValidationError[]): Enriched {
  return { stream: 'rejected', detail }
}
