/**
 * A signal that aborts as `signal` does, or after `ms` with a `TimeoutError`.
 *
 * Node 20 lets the garbage collector take an `AbortSignal.timeout` that only an `AbortSignal.any` knows, with its timer.
 * Then that deadline never comes. Held by test/unit/deadline.test.ts.
 */
export function endAfter(signal: AbortSignal, ms: number): AbortSignal {
  const ending = new AbortController()
  const timer = setTimeout(() => {
    signal.removeEventListener('abort', end)
    ending.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  }, ms)
  timer.unref()
  function end(): void {
    clearTimeout(timer)
    ending.abort(signal.reason)
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return ending.signal
}
