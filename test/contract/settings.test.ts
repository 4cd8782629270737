import { expect, test } from 'vitest'
import { settings } from '../../runtime/settings.ts'
import { docPaths, readDoc, tableOf } from '../support/docs.ts'

/** Variables that pages speak of and that are no settings: those of their examples, and the tests' own. */
const otherVariables = [
  'API_KEY',
  'TRACKING_KEY',
  'TRACK',
  'INSERT',
  'FAULTS',
  'SEED',
  'RUNS',
  'FIELD',
  'SKIP_BROWSER',
  'SVC_API_KEY',
  'SVC_AUTHORIZATION',
  // Node's own: certificates of further authorities.
  'NODE_EXTRA_CA_CERTS',
  // A format of BigQuery's exports.
  'NEWLINE_DELIMITED_JSON',
  // Names that AMP replaces in addresses.
  'SOURCE_URL',
  'DOCUMENT_REFERRER',
]

/**
 * Finds texts that look like a variable of the environment: `NAME` in capitals with an underscore, or anything that is
 * assigned.
 */
function variablesIn(page: string): string[] {
  const named = page.match(/(?<![\w/.])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w|\.\w|\()/g) ?? []
  const assigned = [...page.matchAll(/(?<![\w-])([A-Z][A-Z0-9]+)=/g)].map(([, name]) => name!)
  return [...named, ...assigned]
}

test('docs/settings.md shows every setting with its default and meaning, and no other', () => {
  const shown = tableOf(readDoc('docs/settings.md'), '# Settings')
  const meant = Object.values(settings).map(({ name, shownDefault, meaning }) => [`\`${name}\``, shownDefault, meaning])
  expect(shown).toEqual(meant)
})

test('every variable of the environment that a page names is a setting', () => {
  const known = new Set([...Object.values(settings).map(({ name }) => name), ...otherVariables])
  const unknown = docPaths().flatMap((path) =>
    variablesIn(readDoc(path))
      .filter((name) => !known.has(name))
      .map((name) => `${path}: ${name}`),
  )
  expect(unknown).toEqual([])
})

test('a variable that is no setting would be found', () => {
  expect(variablesIn('set `LOG_BYTES` and `DATA_DIRS=x`, or `PORTS=1 npm start`')).toEqual([
    'LOG_BYTES',
    'DATA_DIRS',
    'PORTS',
  ])
  expect(variablesIn('[ARCHITECTURE.md](X.md) README schemas/SOME_FILE.md')).toEqual([])
})
