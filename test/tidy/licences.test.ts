import { expect, test } from 'vitest'
import { projectRoot } from '../../runtime/paths.ts'
import { productionPackages, unfreeLicences } from './licences.ts'

test('every dependency that runs in production has a permissive licence', () => {
  const packages = productionPackages(projectRoot)
  expect(packages.length).toBeGreaterThan(50)
  expect(unfreeLicences(packages)).toEqual([])
})

test.each([
  'AGPL-3.0-or-later',
  'GPL-2.0',
  'SSPL-1.0',
  'UNLICENSED',
  'SEE LICENSE IN LICENSE.md',
  'MIT AND GPL-3.0',
  '',
  undefined,
  [],
  { type: 'LGPL-3.0' },
])('the check of licences refuses %j', (licence) => {
  expect(unfreeLicences([{ name: 'offender', licence }])).toHaveLength(1)
})

test.each(['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC', { type: 'MIT' }, [{ type: 'BSD' }]])(
  'and accepts %j',
  (licence) => {
    expect(unfreeLicences([{ name: 'innocent', licence }])).toEqual([])
  },
)
