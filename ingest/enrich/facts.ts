/** State of the enrichment steps: one event, the facts found so far, and the row to fill. */

import type { ValidationError } from '../../schemas/errors/validation-errors.ts'
import { emptyEventRow } from '../../schemas/event/empty-row.ts'
import type { TrackEvent } from '../../schemas/event/event.ts'
import { type EventRow, noCountry } from '../../schemas/event/row.ts'
import { noArea } from '../../schemas/reference/places.ts'
import type { IngestWorkspace, Sender } from '../event-context.ts'
import { makePageUrl, type PageUrl } from './page-url.ts'
import { type Agent, noAgent } from './user-agents.ts'

/** Why a field's value is dropped, while its event is kept: the labels of the metric. */
export type DropReason = 'invalid_email' | 'vital_out_of_bounds' | 'not_a_page_url'
export type CountDropped = (reason: DropReason) => void

/** Made once and used for every event: nothing of it may be kept. */
export interface Facts {
  event: TrackEvent
  sender: Sender
  workspace: IngestWorkspace
  /** The visitor's user agent. One that a server forwards wins over its own connection's. */
  agent: Agent
  /** The page, as its URL says. */
  readonly page: PageUrl
  /** Trimmed and in lower case; empty where none was sent. */
  email: string
  readonly row: EventRow
  readonly countDropped: CountDropped
}

/** Undefined lets the event go on to the next step; 'bot' ends the steps and makes it a bot visit; errors refuse it. */
export type Verdict = undefined | 'bot' | ValidationError[]
export type Step = (facts: Facts) => Verdict

export function makeFacts(countDropped: CountDropped): Facts {
  return {
    countDropped,
    event: { event_name: '' },
    sender: { address: '', userAgent: '', country: noCountry, area: noArea, receivedAt: 0 },
    workspace: { id: 0, timezone: 'UTC' },
    agent: noAgent,
    page: makePageUrl(),
    email: '',
    row: emptyEventRow(),
  }
}
