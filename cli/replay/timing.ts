/** When a replayed request is said to have happened. */
import { eventAgeMaxMs } from '../../schemas/limits/event-limits.ts'
import { hourMs } from '../../schemas/time/time-zone.ts'
import { CommandFailed } from '../command.ts'
import type { Survey } from './survey.ts'

export type Speed = 'max' | number

export interface Timing {
  /** Names this placing of the log in time: the same log replayed under the same name is counted once. */
  readonly run: string
  occurredAt(logTime: number): number
  /** When to send it, milliseconds since 1970; 0 for at once. */
  dueAt(logTime: number): number
  /** The options under which a repeat is counted once, where there are any. */
  readonly resumeWith?: string
  /** For the summary. */
  readonly description: { first: string; last: string; scale: number }
}

/** A shifted log of a longer time is pressed into this, well within what the public interface takes. */
const shiftedSpanMaxMs = 48 * hourMs

export interface TimingChoice {
  /** The moment that the log's last page request is moved to; undefined leaves the times as they are. */
  readonly shiftTo: number | undefined
  readonly speed: Speed
  /** Old times are taken: they don't go through the public interface. */
  readonly isImport: boolean
  readonly now: number
}

/** @throws CommandFailed when the public interface would refuse the log's times */
export function chooseTiming(
  { firstTime, lastTime }: Pick<Survey, 'firstTime' | 'lastTime'>,
  { shiftTo, speed, isImport, now }: TimingChoice,
): Timing {
  const span = lastTime - firstTime
  // Sending at N times real time: each request is due when it would have come, were the first one now.
  const dueAt = speed === 'max' ? () => 0 : (logTime: number) => now + (logTime - firstTime) / speed
  if (shiftTo !== undefined) {
    const scale = span > shiftedSpanMaxMs ? shiftedSpanMaxMs / span : 1
    refuseOld(shiftTo - span * scale, now, isImport, 'the time of --shift-to')
    // Later than now is now to ingest: the whole log would fall on one moment.
    if (shiftTo > now && !isImport) throw new CommandFailed('--shift-to must not be later than now')
    const shifted = (logTime: number) => Math.round(shiftTo - (lastTime - logTime) * scale)
    return {
      ...timing(`shift-${shiftTo}`, dueAt, shifted, scale),
      resumeWith: `--shift-to ${new Date(shiftTo).toISOString()}`,
    }
  }
  if (speed !== 'max' && !isImport)
    return timing(`live-${now}`, dueAt, (logTime) => Math.round(dueAt(logTime)), 1 / speed)
  refuseOld(firstTime, now, isImport, 'this log')
  return timing('as-it-was', dueAt, (logTime) => logTime, 1)

  function timing(run: string, due: Timing['dueAt'], occurredAt: Timing['occurredAt'], scale: number): Timing {
    const at = (logTime: number) => new Date(occurredAt(logTime)).toISOString()
    return { run, occurredAt, dueAt: due, description: { first: at(firstTime), last: at(lastTime), scale } }
  }
}

function refuseOld(first: number, now: number, isImport: boolean, what: string): void {
  if (isImport || now - first <= eventAgeMaxMs) return
  throw new CommandFailed(
    `${what} begins ${new Date(first).toISOString()}, and events older than ${eventAgeMaxMs / hourMs} hours are refused: ` +
      '--shift-to-now moves them to now, --import stores old times where the stores can be reached directly',
  )
}
