/**
 * Lets a thread that works for nobody in particular give way to those whose answers somebody waits for, as long as it keeps
 * up with what it has to do. Where there are more threads than cores, the kernel shares them out by niceness: who has time
 * to spare loses little by waiting for a moment, and what somebody waits for comes sooner. decisions/0015 has the figures.
 *
 * Whoever may make itself nicer may not take that back everywhere: Linux has it by the capability CAP_SYS_NICE or by a
 * limit (RLIMIT_NICE), and only Linux has a niceness for each thread. Elsewhere nothing is changed.
 */
import { getPriority, setPriority } from 'node:os'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** What became of a thread since it was last looked at. */
export interface Course {
  /** Share of the time in which it had something to do. */
  readonly utilization: number
  /** The longest that its event loop didn't come round, as work or others held it up. */
  readonly lateMs: number
}

/** A thread that has nothing to do for less than a twentieth of the time is about to fall behind. */
export const utilizationMax = 0.95
/** Whoever sends something to it shall not wait for longer than that because it gives way. */
export const lateMsMax = 150
/** Over half a second also a thread that has half of its time to spare has none now and then. */
const lookEveryMs = 2_000
const resolutionMs = 20
/** So long it gives way to none once it didn't keep up. */
export const hurriesForMs = 10_000
const nicest = 19

/** From now on, for the thread that calls it. Threads that it starts later begin with what it has then. */
export function giveWayWhileKeepingUp(by: number): void {
  const own = getPriority()
  if (!mayTakeBack(own)) return
  const nicer = Math.min(own + by, nicest)
  const decide = makeGivingWay()
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  let before = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    // It counts from one time that it comes round to the next.
    const lateMs = delays.max / 1_000_000 - resolutionMs
    before = now
    delays.reset()
    setPriority(decide({ utilization, lateMs }, performance.now()) ? nicer : own)
  }, lookEveryMs).unref()
}

/** Decides look by look, by the thread's course and the present moment in milliseconds, whether it is to give way. */
export function makeGivingWay(): (course: Course, now: number) => boolean {
  let hurriesUntil = Number.NEGATIVE_INFINITY
  return ({ utilization, lateMs }, now) => {
    if (utilization >= utilizationMax || lateMs >= lateMsMax) hurriesUntil = now + hurriesForMs
    return now >= hurriesUntil
  }
}

/** Whether the thread that calls it may go back to `own` from being nicer: whoever may be less nice than that may. */
export function mayTakeBack(own: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    setPriority(own - 1)
    setPriority(own)
    return true
  } catch {
    return false
  }
}
