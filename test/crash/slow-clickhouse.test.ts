/** Statements that ClickHouse takes its time for, with nothing on the connection meanwhile. */
import { expect, test } from 'vitest'
import { isLong } from '../support/short-form.ts'
import { setUpStores } from '../support/stores.ts'

/** In the long form longer than any deadline of an insert. */
const seconds = isLong ? 150 : 3

const stores = setUpStores()

/** One row a second: a block may sleep for three seconds at most. */
const takingSeconds = (count: number) =>
  `SELECT sum(sleepEachRow(1)) AS slept FROM numbers(${count}) SETTINGS max_block_size = 1`

test(
  `a statement of ${seconds} s is waited for where its deadline is later`,
  async () => {
    const answer = await stores.ch.query(takingSeconds(seconds), {}, { deadlineMs: (seconds + 60) * 1000 })
    expect(answer).toEqual([{ slept: 0 }])
  },
  (seconds + 300) * 1000,
)
