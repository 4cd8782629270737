import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keptResults, resultText } from '../../bench/results.ts'
import { projectFile } from '../../runtime/paths.ts'

test('keeps of a measurement a line for each fact and figure, without its rounds and its profile', () => {
  const result = {
    scenario: 'ship' as const,
    measuredAt: '2026-11-24T00:00:00.000Z',
    command: 'npm run bench -- ship',
    commit: 'abc',
    machine: { processor: 'made up', cores: 2, memoryGb: 4, kernel: 'linux', node: 'v20' },
    placement: 'on core 0',
    figures: [{ measure: 'rows a second', value: 0.123_456, unit: 'ratio' as const }],
    remarks: ['One.', 'Two.'],
    settings: { rows: 10 },
    stages: [{ stage: 'parse', share: 0.5, files: [] }],
    rounds: [{ seconds: 1 }, { seconds: 2 }],
  }
  const text = resultText(result)
  const { rounds: _rounds, stages: _stages, ...kept } = result
  expect(JSON.parse(text)).toEqual({ ...kept, figures: [{ ...result.figures[0], value: 0.1235 }] })
  expect(text.split('\n')).toHaveLength(14)
})

test('has all results in that form', () => {
  const results = keptResults()
  expect(results.length).toBeGreaterThan(0)
  for (const result of results) {
    expect(readFileSync(join(projectFile('bench/results'), `${result.scenario}.json`), 'utf8')).toBe(resultText(result))
  }
})
