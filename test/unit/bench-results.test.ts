import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isReached } from '../../bench/bench.ts'
import { keptResults, resultText } from '../../bench/results.ts'
import { projectFile } from '../../runtime/paths.ts'

test('each result that is kept is written as the bench writes it', () => {
  const results = keptResults()
  expect(results.length).toBeGreaterThan(0)
  for (const result of results) {
    expect(readFileSync(join(projectFile('bench/results'), `${result.scenario}.json`), 'utf8')).toBe(resultText(result))
  }
})

test('what was not measured reaches no target, also when it was kept', () => {
  for (const value of [Number.NaN, JSON.parse(JSON.stringify(Number.NaN)) as number])
    for (const unit of ['ms', 'ratio', 'events/s'] as const) expect(isReached({ unit, value }, 30)).toBe(false)
})
