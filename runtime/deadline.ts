import { setMaxListeners } from 'node:events'

/**
 * Runs `work` with a signal that aborts as `signal` does, or after `ms` with a `TimeoutError`. When the work ends, its
 * timer and its listener go.
 *
 * Node 20 lets the garbage collector take an `AbortSignal.timeout` that only an `AbortSignal.any` knows, with its timer.
 * Then that deadline never comes. Held by test/unit/deadline.test.ts.
 */
export async function within<Result>(
  ms: number,
  signal: AbortSignal,
  work: (ending: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ending = new AbortController()
  const timedOut = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  const timer = setTimeout(() => ending.abort(timedOut), ms)
  timer.unref()
  const end = () => ending.abort(signal.reason)
  // Callers bound how much runs at a time: more than the ten listeners that Node takes for a leak.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    return await work(ending.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
