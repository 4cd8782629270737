/** Waiting and backing off. */

/** Passed to code that calls platforms, so that tests can pass one that waits less. */
export type Sleep = typeof sleep

/** A longer timer of Node would end at once. */
const timerMaxMs = 2 ** 31 - 1

/** Resolves after `ms`, but 24 days at most, or at once when `signal` aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(ms, timerMaxMs))
    signal?.addEventListener('abort', done)
  })
}

/** Exponential backoff with equal jitter: attempt 0 waits between half of `firstMs` and all of it, none longer than `maxMs`. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(attempt, 30))
  return ceiling / 2 + (Math.random() * ceiling) / 2
}
