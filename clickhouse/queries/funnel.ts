/**
 * Visitors who did some steps in order (docs/metrics.md, "Funnels"). Held by test/property/funnel.test.ts against a
 * naive computation.
 *
 * Each visitor's events that match a step are gone through in order of time, then id. Each step keeps the try that has
 * come that far and began last. It has the longest time left, so no other can get further. An event is one step of a
 * try, also where several steps want it. `best` are the times of the try that got furthest first.
 */
import type { FunnelStep } from '../../schemas/funnel-steps.ts'
import { funnelEventsOfVisitorMax } from '../../schemas/limits/overview-limits.ts'
import { eventMs, moment } from '../rollups/event-sql.ts'
import { type EventsOfRange, isOfChosen } from './chosen-events.ts'
import { inWorkspace, isFolded } from './overview/figure-parts.ts'
import { coverageSql } from './overview/figures-sql.ts'
import { composedStatement, type Reader } from './reader.ts'
import { stepsSql } from './step-sql.ts'

/** `arrayFold` goes through a block as often as its longest list has elements: groups in two levels would come in 256 blocks. */
const arrayFoldSettings = {
  ...composedStatement,
  group_by_two_level_threshold: 0,
  group_by_two_level_threshold_bytes: 0,
}

export interface FunnelRequest extends EventsOfRange {
  readonly steps: readonly FunnelStep[]
  /** From the first step to the last one; milliseconds. */
  readonly withinMs: number
  /** All steps have to be of one session. */
  readonly isOfSession: boolean
  /** No event is looked at from here on. */
  readonly latest: number
}

export interface StepCount {
  readonly visitors: number
  /** Milliseconds from the step before; 0 for the first one. */
  readonly median_ms: number
}

/** In the order of the steps, as far as anybody came. */
export async function readFunnel(ch: Reader, request: FunnelRequest): Promise<StepCount[]> {
  const { steps, start, end, withinMs, isOfSession, latest } = request
  const chosen = await isOfChosen(ch, request)
  const { conditions, params } = stepsSql(steps)
  const inRange = `occurred_at>=${moment('start')} AND occurred_at<${moment('end')}`
  const begins = `${conditions[0]} AND ${inRange} AND ${chosen.sql}`
  const seen = `${inWorkspace} AND visitor!=0 AND ${isFolded}`
  const key = isOfSession ? 'visitor,session' : 'visitor'
  const { best, end: bestEnd } = ofSteps('ended', steps.length)
  const candidates = `SELECT ${key} FROM events WHERE ${seen} AND ${begins}`
  return ch.query<StepCount>(
    `WITH ${coverageSql} AS coverage
     SELECT count() AS visitors,quantileExactInclusive(0.5)(after_ms) AS median_ms
     FROM (SELECT visitor,argMin(best,(-toInt64(length(best)),best_end)) AS times
       FROM (SELECT visitor,${best} AS best,${bestEnd} AS best_end
         FROM (SELECT ${key},arrayFold((tries,event)->${nextOf(steps.length)},its_events,${noTries(steps.length)}) AS ended
           FROM (SELECT ${key},groupArraySorted(${funnelEventsOfVisitorMax})((${eventMs},id,${maskOf(conditions)},toUInt8(${begins}))) AS its_events
             FROM events WHERE ${seen} AND occurred_at>=${moment('start')} AND occurred_at<${moment('until')}
               AND (${conditions.join(' OR ')}) AND (${key}) IN (${candidates})
             GROUP BY ${key})))
       GROUP BY visitor)
     ARRAY JOIN arrayEnumerate(times) AS step,arrayDifference(times) AS after_ms
     GROUP BY step ORDER BY step`,
    {
      ...chosen.params,
      ...params,
      within: withinMs,
      until: Math.max(start, Math.min(end + withinMs + 1, latest)),
    },
    { settings: arrayFoldSettings },
  )
}

/** SQL of a number with a bit for each step that the event is of. */
function maskOf(conditions: readonly string[]): string {
  return `toUInt8(${conditions.map((condition, at) => `if(${condition},${2 ** at},0)`).join('+')})`
}

/** SQL of the state: for each step the times of the try that is kept, then `best` and the event that made it the best. */
function ofSteps(state: string, steps: number) {
  return { kept: (step: number) => `${state}.${step}`, best: `${state}.${steps + 1}`, end: `${state}.${steps + 2}` }
}

/** SQL of the state before any event. */
function noTries(steps: number): string {
  const none = "CAST([],'Array(Int64)')"
  return `(${Array.from({ length: steps + 1 }, () => none).join(',')},(toInt64(0),toUInt64(0)))`
}

/** SQL of the state after an event: its time, its id, the mask of its steps, whether a try may begin with it. */
function nextOf(steps: number): string {
  const { kept, best, end } = ofSteps('tries', steps)
  const all = Array.from({ length: steps }, (_, at) => at + 1)
  const reaches = (step: number) =>
    step === 1
      ? 'event.4'
      : `(bitTest(event.3,${step - 1}) AND notEmpty(${kept(step - 1)}) AND event.1-${kept(step - 1)}[1]<={within:Int64})`
  const reached = (step: number) => (step === 1 ? '[event.1]' : `arrayPushBack(${kept(step - 1)},event.1)`)
  const beganLater = (step: number) =>
    step === 1 ? '1' : `(empty(${kept(step)}) OR ${kept(step - 1)}[1]>${kept(step)}[1])`
  const isFurther = (step: number) => `length(${best})=${step - 1} AND ${reaches(step)}`
  return `(${[
    ...all.map((step) => `if(${reaches(step)} AND ${beganLater(step)},${reached(step)},${kept(step)})`),
    `multiIf(${all.map((step) => `${isFurther(step)},${reached(step)}`).join(',')},${best})`,
    `if(${all.map((step) => `(${isFurther(step)})`).join(' OR ')},(event.1,event.2),${end})`,
  ].join(',')})`
}
