import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { refusals } from '../../runtime/http/refusals.ts'
import { unread } from '../../runtime/http/unread.ts'
import { problems } from '../../schemas/errors/problems.ts'
import { type ApiParameter, apiDocument } from '../support/api-requests.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const page = readDoc('docs/api.md')

test('docs/api.md has every operation with its scope, and no other', () => {
  const shown = tableOf(page, '## Operations').map((row) => row.slice(0, 2))
  expect(shown).toEqual(operations.map(({ http, scope }) => [`\`${http.method} ${http.path}\``, `\`${scope}\``]))
})

const takenBy = ({ minimum, maximum, enum: values }: ApiParameter['schema']) => {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ')
  return maximum === undefined ? 'text' : `${minimum}–${maximum}`
}

test('docs/api.md has the parameters of the overview with their bounds and defaults', () => {
  const meant = apiDocument.paths['/v1/analytics/overview']!['get']!.parameters!.map(({ name, schema }) => [
    `\`${name}\``,
    takenBy(schema),
    schema.default === undefined ? '' : String(schema.default),
  ])
  expect(tableOf(page, '## The overview').map((row) => row.slice(0, 3))).toEqual(meant)
})

test('docs/api.md has every refusal with its status and text', () => {
  const shown = tableOf(page, '## Answers').map(([status, detail]) => `${status} ${detail!.replaceAll('`', '')}`)
  const meant = Object.values(problems).map(({ status, detail }) => `${status} ${detail}`)
  expect(shown).toEqual(expect.arrayContaining(meant))
  const given = new Set<string>(
    [...Object.values(problems), ...Object.values(refusals), ...Object.values(unread)].map(({ detail }) => detail),
  )
  const texts = tableOf(page, '## Answers').flatMap(([, detail]) => /^`(.*)`$/.exec(detail!)?.[1] ?? [])
  expect(texts.filter((text) => !given.has(text))).toEqual([])
})

test('docs/api.md names every member of the overview', () => {
  const { properties } = apiDocument.components.schemas['AnalyticsOverview']!
  for (const member of Object.keys(properties as object)) expect(page).toContain(`\`${member}\``)
})
