/**
 * Lets a thread that works for nobody in particular give way to those whose answers somebody waits for, as long as it keeps
 * up with what it has to do. Where there are more threads than cores, the kernel shares them out by niceness: whoever has room
 * to wait for a moment takes nothing from its own work by waiting, and all of what it does by not waiting.
 *
 * Whoever may make itself nicer may not take that back everywhere: Linux has it by the capability CAP_SYS_NICE or by a
 * limit (RLIMIT_NICE), and only Linux has a niceness for each thread. Elsewhere nothing is changed.
 */
import { getPriority, setPriority } from 'node:os'
import { performance } from 'node:perf_hooks'

/** A thread whose event loop had nothing to do for less than a tenth of the time is about to fall behind. */
export const keepsUpBelow = 0.9
const lookEveryMs = 500
/** So long it gives way to none after that. */
export const hurriesForMs = 10_000
const nicest = 19

/** From now on, for the thread that calls it. Threads that it starts later take on what it is then. */
export function giveWayWhileKeepingUp(by: number): void {
  const own = getPriority()
  if (!mayTakeBack(own)) return
  const nicer = Math.min(own + by, nicest)
  const decide = makeGivingWay()
  let before = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    setPriority(decide(utilization, performance.now()) ? nicer : own)
  }, lookEveryMs).unref()
}

/**
 * Whether to give way, look by look.
 * @returns of the share of the time since the last look in which the thread was at work or waited for a core, and of the
 *   present moment in milliseconds
 */
export function makeGivingWay(): (utilization: number, now: number) => boolean {
  let hurriesUntil = Number.NEGATIVE_INFINITY
  return (utilization, now) => {
    if (utilization >= keepsUpBelow) hurriesUntil = now + hurriesForMs
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
