/**
 * The deadline of a statement. A statement of minutes also ends where the server hangs: a connection to a stopped server,
 * or to a machine that vanished, stays open without a word, and a deletion has a deadline of an hour.
 * Held by test/unit/late-statement.test.ts.
 */
import { sleep } from '../runtime/retry.ts'
import { StoreLate, StoreUnavailable } from '../runtime/store-error.ts'

/** Questions in a row without an answer, after which a server hangs. */
const missedMax = 2

export interface Pulse {
  readonly everyMs: number
  /** Asks the server, with a deadline of twice `everyMs`. */
  isAlive(): Promise<boolean>
}

/**
 * After the deadline the connection is cut. With a pulse that is done too where the server hangs.
 * @param serversMs the server's own deadline
 */
export function startDeadline(deadlineMs: number, serversMs: number, pulse?: Pulse) {
  const aborter = new AbortController()
  const timer = setTimeout(() => aborter.abort(), deadlineMs)
  const startedAt = performance.now()
  const ended = new AbortController()
  let isSilent = false
  if (pulse !== undefined && deadlineMs > missedMax * 3 * pulse.everyMs) {
    void watchPulse(pulse, ended.signal, () => {
      isSilent = true
      aborter.abort()
    })
  }
  return {
    signal: aborter.signal,
    /** A statement that passed its deadline may fail in any step: it was late. @returns undefined where it wasn't */
    failureOf: (cause: unknown): StoreUnavailable | undefined => {
      if (isSilent) return new StoreUnavailable('clickhouse', 'the server answers nothing any more', { cause })
      const isLate = aborter.signal.aborted || performance.now() - startedAt >= serversMs
      return isLate ? new StoreLate('clickhouse', `no answer within ${serversMs} ms`, { cause }) : undefined
    },
    end: () => {
      clearTimeout(timer)
      ended.abort()
    },
  }
}

/** Asks until `signal` is aborted, or calls `onSilence`. */
async function watchPulse({ everyMs, isAlive }: Pulse, signal: AbortSignal, onSilence: () => void): Promise<void> {
  for (let missed = 0; missed < missedMax; ) {
    await sleep(everyMs, signal)
    if (signal.aborted) return
    missed = (await isAlive()) ? 0 : missed + 1
  }
  if (!signal.aborted) onSilence()
}
