/** Bodies of the tracking routes' answers to what was taken, and to what the workspace leaves out. docs/tracking.md shows them. */
import { boundedErrors, type ValidationError } from '../../schemas/errors/validation-errors.ts'
import type { ExclusionReason } from '../../schemas/exclusions.ts'
import type { BotAnswer } from './bots.ts'
import type { Answer } from './receive.ts'

export interface Rejected {
  readonly index: number
  readonly detail: ValidationError[]
}

export interface Excluded {
  readonly index: number
  readonly reason: ExclusionReason
}

export function trackBody(id: number, isDuplicate: boolean): string {
  return `{"accepted":true,"event_id":${id},"deduplicated":${isDuplicate}}`
}

export function botBody(ids: readonly number[], duplicates: number, bots: readonly BotAnswer[]): string {
  return JSON.stringify({ accepted: true, event_id: ids[0], deduplicated: duplicates > 0, bot: bots[0] })
}

/** @param more members of one kind of batch alone */
export function batchBody(
  ids: readonly number[],
  duplicates: number,
  rejected: readonly Rejected[],
  { bots, excluded = [] }: { readonly bots?: readonly BotAnswer[]; readonly excluded?: readonly Excluded[] } = {},
): string {
  return JSON.stringify({
    accepted: ids.length,
    deduplicated: duplicates,
    event_ids: ids,
    bots,
    rejected: rejected.map(({ index, detail }) => ({ index, detail: boundedErrors(detail) })),
    ...(excluded.length > 0 && {
      excluded: excluded.map(({ index, reason }) => ({ index, reason: nameOf(reason) })),
    }),
  })
}

/** No 202, which says that something is on disk; and a success, as sending it again would change nothing. */
export function excludedAnswer(reason: ExclusionReason): Answer {
  return { status: 200, body: `{"accepted":false,"reason":"${nameOf(reason)}"}` }
}

function nameOf(reason: ExclusionReason): string {
  return `excluded_${reason}`
}
