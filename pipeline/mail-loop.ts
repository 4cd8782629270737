/** Repeats the sending of mails and of messages to chats. When the process stops, those under way have a while to end. */
import { type JobLoop, type JobLoopContext, type JobLoopOptions, startJobLoop } from './job-loop.ts'

/** `stopping`: no other one is begun. `giveUp`: those under way are left. */
export interface Signals {
  readonly stopping: AbortSignal
  readonly giveUp: AbortSignal
}

/** For messages under way when the process stops, within the 20 s of a step of the shutdown. */
const closeGraceMs = 10_000

export function startMailLoop<Context extends JobLoopContext>(
  context: Context,
  job: JobLoopOptions,
  send: (context: Context, signals: Signals) => Promise<void>,
): JobLoop {
  let giveUp: AbortSignal | undefined
  return startJobLoop(context, job, async (stopping) => {
    giveUp ??= graceAfter(stopping)
    await send(context, { stopping, giveUp })
    return false
  })
}

/** Aborts a while after `stopping` does. */
function graceAfter(stopping: AbortSignal): AbortSignal {
  const giveUp = new AbortController()
  const later = () => setTimeout(() => giveUp.abort(stopping.reason), closeGraceMs).unref()
  if (stopping.aborted) later()
  else stopping.addEventListener('abort', later, { once: true })
  return giveUp.signal
}
