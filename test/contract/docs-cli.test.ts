import { expect, test } from 'vitest'
import { checks } from '../../cli/doctor/finding.ts'
import { readDoc, tableOf } from '../support/docs.ts'

test('docs/cli.md says what each check of the doctor looks at, in the order in which they are shown', () => {
  expect(tableOf(readDoc('docs/cli.md'), '## Doctor').map(([check]) => check)).toEqual(
    checks.map((check) => `\`${check}\``),
  )
})
