/**
 * For machines on which a run of all tests would not end within the time that it has: with `BEGIN_UNTIL` (seconds since
 * 1970) set, a file that hasn't begun by then counts as one skipped test, `leftOut`, instead of its own. Those that take next
 * to nothing run nevertheless. `.ci/run` sets it, `npm test` doesn't.
 */
import { TestRunner, test } from 'vitest'
import { isShort } from '../file-order.ts'

/** start/test-run.mjs names the files that have it. */
const leftOut = 'left out: the time was up'
const beginUntilMs = Number(process.env['BEGIN_UNTIL'] ?? Number.POSITIVE_INFINITY) * 1_000
const isTimeUp = () => Date.now() > beginUntilMs

export default class TimedRunner extends TestRunner {
  override importFile(...[file, source]: Parameters<TestRunner['importFile']>): unknown {
    if (source !== 'collect' || isShort(file) || !isTimeUp()) return super.importFile(file, source)
    return test.skipIf(isTimeUp())(leftOut, () => {})
  }
}
