/**
 * ClickHouse as one call may ask it: its statements together end by one deadline, however many follow one another. Held by
 * test/unit/timed-reader.test.ts and test/integration/api-stores.test.ts.
 */
import type { ClickHouse } from '../../clickhouse/client.ts'
import {
  clickhouseShareOfAnswer,
  longAnswersMax,
  longClickhouseShareOfAnswer,
} from '../../schemas/limits/store-limits.ts'

export interface TimedReader extends Pick<ClickHouse, 'query'> {
  /** To be called once the call is over. */
  end(): void
}

/** @param mayBeLong the call changes nothing: nobody else waits for it */
export type OpenReader = (mayBeLong: boolean) => TimedReader

/**
 * Makes the readers of a process's calls. Figures of tens of millions of sessions may take longer than an answer waits for
 * a store that hangs. A few calls at a time get that long, so that ClickHouse doesn't work at ever more of them.
 */
export function makeTimedReaders(ch: Pick<ClickHouse, 'query'>, answerDeadlineMs: number): OpenReader {
  let longOnes = 0
  return (mayBeLong) => {
    const startedAt = performance.now()
    let isLong: boolean | undefined
    return {
      query: (sql, params, options) => {
        if (isLong === undefined) {
          isLong = mayBeLong && longOnes < longAnswersMax
          if (isLong) longOnes++
        }
        const withinMs = answerDeadlineMs * (isLong ? longClickhouseShareOfAnswer : clickhouseShareOfAnswer)
        const deadlineMs = Math.max(1, startedAt + withinMs - performance.now())
        return ch.query(sql, params, { ...options, deadlineMs })
      },
      end: () => {
        if (isLong) longOnes--
        isLong = false
      },
    }
  }
}
