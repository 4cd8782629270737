import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keptResults, resultText } from '../../bench/results.ts'
import { projectFile } from '../../runtime/paths.ts'

test('each result that is kept is written as the bench writes it', () => {
  const results = keptResults()
  expect(results.length).toBeGreaterThan(0)
  for (const result of results) {
    expect(readFileSync(join(projectFile('bench/results'), `${result.scenario}.json`), 'utf8')).toBe(resultText(result))
  }
})
