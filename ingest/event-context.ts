/** The values that pass between the steps of ingest: an event's sender, workspace, side payload and enriched row. */

import type { ValidationError } from '../schemas/errors/validation-errors.ts'
import type { BotVisitRow, EventRow } from '../schemas/event/row.ts'
import type { SidePayload } from '../schemas/event/side-payload.ts'
import type { ExclusionReason } from '../schemas/exclusions.ts'
import type { Area } from '../schemas/reference/places.ts'

/** The sender of a request, as far as the steps may know it. The address is used for hashing and goes no further. */
export interface Sender {
  readonly address: string
  readonly userAgent: string
  /** ISO alpha-2 from a trusted proxy's header, or `noCountry`. */
  readonly country: string
  /** Where in that country, by the same proxy. */
  readonly area: Area
  /** When the request arrived, milliseconds since 1970 UTC. */
  readonly receivedAt: number
}

/** The facts that the rules look at. A text is empty where it isn't known, and then its rule leaves nothing out. */
interface Visit {
  readonly address: string
  /** ISO alpha-2, or `noCountry`. */
  readonly country: string
  readonly url: string
  readonly path: string
}

export interface ExclusionMatcher {
  /** The first rule that leaves the visit out; null: it counts. */
  reasonFor(visit: Visit): ExclusionReason | null
}

/** A workspace, as ingest knows it. */
export interface IngestWorkspace {
  readonly id: number
  readonly timezone: string
}

/** The same, as a tracking key names it. */
export interface TrackedWorkspace extends IngestWorkspace {
  /** Sessions of a hundred that are recorded; 0: replay is off. */
  readonly replayShare: number
  /** Null: the workspace leaves nothing out. */
  readonly exclusions: ExclusionMatcher | null
}

/** Rows are the enricher's own objects, used again for the next event: encode them before that. `id` is not set yet. */
export type Enriched =
  | { readonly stream: 'events'; readonly row: EventRow; readonly side: SidePayload | null }
  | { readonly stream: 'bot_visits'; readonly row: BotVisitRow; readonly side: null }
  | { readonly stream: 'rejected'; readonly detail: ValidationError[] }
