import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { countryCodes } from '../../schemas/reference/country-zones.ts'

interface Source {
  readonly objects: { readonly countries: { readonly geometries: readonly { readonly id?: string }[] } }
}

test('the map draws every country of the figures that its source has, by the code of the figures', () => {
  const source: Source = createRequire(import.meta.url)('world-atlas/countries-110m.json')
  // ISO 3166-1 numbers, by which Unicode knows the letters. The map leaves Antarctica and the islands around it out.
  const ofSource = source.objects.countries.geometries.flatMap(({ id }) =>
    id === undefined ? [] : [Intl.getCanonicalLocales(`und-${id}`)[0]!.slice('und-'.length)],
  )
  const known = new Set(countryCodes())
  const expected = ofSource.filter((code) => known.has(code) && code !== 'AQ' && code !== 'TF')
  expect(expected.length).toBeGreaterThan(160)
  const drawn = Object.keys(JSON.parse(readFileSync(projectFile('web/generated/world.json'), 'utf8')))
  // Kosovo has no number; places without a code share the empty key.
  expect(drawn.sort()).toEqual([...expected, 'XK', ''].sort())
})
