import { describe, expect, test } from 'vitest'
import {
  emptyMatches,
  emptyNamed,
  fewCases,
  leftNotes,
  longFiles,
  machinePaths,
  migrationGaps,
  oldClocks,
  registryHosts,
  spreadLiterals,
  subjectlessComments,
  unseededTests,
  weakenedTests,
} from './house-rules.ts'
import { type ProjectFile, projectFiles } from './project-files.ts'

const files = projectFiles()
const file = (path: string, text = ''): ProjectFile => ({ path, text })
// Put together here, so that the rules don't meet their own offenders.
const later = ['TO', 'DO'].join('')
const slash = '/'

interface Rule {
  guarantee: string
  check: (files: readonly ProjectFile[]) => string[]
  /** Each is exactly one offence. */
  offenders: ProjectFile[]
  /** None of these is one. */
  innocents: ProjectFile[]
}

const named = (...paths: string[]) => paths.map((path) => file(path))
const inTest = (...texts: string[]) => texts.map((text) => file('test/unit/a.test.ts', text))
const inSupport = (...texts: string[]) => texts.map((text) => file('test/support/a.ts', text))
const inProperty = (...texts: string[]) => texts.map((text) => file('test/property/a.test.ts', text))
const inApi = (...texts: string[]) => texts.map((text) => file('api/main.ts', text))
const inReadme = (...texts: string[]) => texts.map((text) => file('README.md', text))
const ofLines = (path: string, lines: number) => file(path, 'a\n'.repeat(lines))

const rules: Rule[] = [
  {
    guarantee: 'no file of ours outside test/ is longer than 300 lines',
    check: longFiles,
    offenders: [ofLines('api/main.ts', 301), ofLines('bench/load/load.ts', 400)],
    innocents: [
      ofLines('api/main.ts', 300),
      ofLines('schemas/generated/validators.mjs', 5000),
      ofLines('test/unit/long.test.ts', 400),
      ofLines('package-lock.json', 4000),
    ],
  },
  {
    guarantee: 'every name says what is inside',
    check: emptyNamed,
    offenders: named('api/utils.ts', 'common/text.ts', 'ingest/log-helpers.ts', 'api/key-manager.test.ts'),
    innocents: named('api/operations/run.ts', 'runtime/commons.ts', 'docs/services.md'),
  },
  {
    guarantee: 'no test is left out, and none runs alone',
    check: weakenedTests,
    offenders: inTest(
      "test.only('a', () => {})",
      "describe.concurrent.skip('a', () => {})",
      "it.todo('a')",
      "xit('a', () => {})",
      "test.skipIf(isSlow)('a', () => {})",
      "test.runIf(isFast)('a', () => {})",
      "test('a', ({ skip }) => leave())",
      "test('a', ({ task, skip: leave }) => leave())",
      "test('a', { skip: true }, () => {})",
      "test('a', (context) => context['skip']())",
    ),
    innocents: [
      ...inTest("test('never .skip', () => { only(skip); of('take', 'skip', 'seal') }) // test.only"),
      file('test/support/left-out.ts', 'const { skip } = context'),
    ],
  },
  {
    guarantee: 'tests draw from a seed',
    check: unseededTests,
    offenders: inTest('sleep(Math.random() * 60)', 'take(randomInt(5))'),
    innocents: [...inTest("page('Math.random()'); draw()"), ...inApi('Math.random(); randomInt(5)')],
  },
  {
    guarantee: 'nothing that test files share keeps a time of when it was loaded',
    check: oldClocks,
    offenders: inSupport(
      'const now = Date.now()',
      'export let at = Math.floor(performance.now())',
      'const a = new Date()',
    ),
    innocents: [
      ...inSupport('const now = () => Date.now()', '  const now = Date.now()', 'const a = new Date(0)'),
      ...inTest('const now = Date.now()'),
    ],
  },
  {
    guarantee: 'a comparison asks for something of each member',
    check: emptyMatches,
    offenders: inTest(
      'it(a).toMatchObject({ x: {} })',
      'it(a).toMatchObject({})',
      'it(f()).toMatchObject([1, f(), {}])',
    ),
    innocents: inTest(
      "it({}).toMatchObject({ x: (() => {})() }); f({}); it(a).toEqual({ x: {} }); '.toMatchObject({})'",
    ),
  },
  {
    guarantee: 'a property is tried on at least 50 cases',
    check: fewCases,
    offenders: [
      ...inProperty(
        'fc.assert(property, { numRuns: 8 })',
        'fc.assert(property, { seed, numRuns: isLong ? 3_000 : 20, endOnFailure: true })',
      ),
      ...inSupport("export const runs = Number(process.env['RUNS'] ?? (isLong ? 3000 : 12))\nconst chunk = 60"),
    ],
    innocents: inProperty(
      'fc.assert(property, { numRuns: isLong ? 1_000 : 50 }); f({ numRuns })',
      "const runs = Number(process.env['RUNS'] ?? 50)\nconst chunk = 12",
    ),
  },
  {
    guarantee: 'an object is written out, and not spread from literals',
    check: spreadLiterals,
    offenders: inTest('f({ ...{ a, b }, c })', '<A {...{ a }} />'),
    innocents: inTest("f({ ...(a && { b }), ...c }, ...[{ a }]); '...{ a }' // ...{ a }"),
  },
  {
    guarantee: 'nothing is left to be done in a comment',
    check: leftNotes,
    offenders: [...inApi(`// ${later}: later`), ...inReadme(`- FIX${'ME'}`)],
    innocents: inApi('// TODOS are shown by the calendar'),
  },
  {
    guarantee: 'no file names a place on one machine',
    check: machinePaths,
    offenders: [
      ...inReadme(`cd ${slash}home/ada/project`),
      ...inTest(`"path": "${slash}root/x"`, `readFileSync('${slash}work/x')`),
    ],
    innocents: inTest("visit('https://example.test/home/ada', './work/x', '/homepage', '/work')"),
  },
  {
    guarantee: 'no file names a package registry',
    check: registryHosts,
    offenders: [
      file('.npmrc', `regis${'try'}=https://packages.example.test/`),
      file('.npmrc', `//packages.example.test/:_auth${'Token'}=a`),
      file('package-lock.json', '"resolved": "https://packages.example.test/a.tgz"'),
      ...inReadme(`https://regis${'try'}.example.org/a`),
    ],
    innocents: [...inReadme('installed from the npm registry by `npm ci`'), ...inApi('registry.get()')],
  },
  {
    guarantee: 'a sentence of a comment begins with its subject',
    check: subjectlessComments,
    offenders: [
      ...inApi('/** Of the key. */', '// It ends.\n// What is left stays.', '/* Ids. What has none\n * is new. */'),
      ...inApi(
        '/**\n * Ids: one each (none\n * at first).\n * Of old ones nothing stays.\n */',
        'const a = 1 // Of it',
      ),
      ...inApi('const sql = `\n  -- What is old\n  SELECT 1`', '/**\n * Ids\n *\n * - Of keys\n */'),
      file('web/dashboard/a.tsx', 'const a = <p>{/* Of it */}</p>'),
      file('postgres/migrations/0001_a.sql', '-- One a day.\n-- Of old ones none.\nSELECT 1;'),
    ],
    innocents: [
      ...inApi(
        '// Ids of keys, and what they open: all.',
        "say('Ids. Of keys'); const a = `// Of it`",
        '/** Office. Whatever. */',
      ),
      file('api/generated/a.mjs', '// Of it'),
      file('api/README.md', 'Ids. Of keys'),
    ],
  },
  {
    guarantee: 'migrations are numbered without a gap',
    check: migrationGaps,
    offenders: named(
      'postgres/migrations/0002_b.sql',
      'clickhouse/migrations/1_a.sql',
      'clickhouse/migrations/0001-a.sql',
      'clickhouse/migrations/0001_a.ts',
    ),
    innocents: named('postgres/migrations/0001_a.sql', 'clickhouse/migrations/0001_b_c.sql'),
  },
]

for (const { guarantee, check, offenders, innocents } of rules) {
  describe(guarantee, () => {
    test('holds', () => {
      expect(check(files)).toEqual([])
    })

    test('and its check can fail', () => {
      for (const offender of offenders) expect([offender, check([offender])]).toEqual([offender, [expect.any(String)]])
      expect(check(innocents)).toEqual([])
    })
  })
}

test('the checks see the project', () => {
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['package.json', 'runtime/config.ts', 'schemas/event/row.ts']),
  )
})

test('two migrations of one number are a gap', () => {
  expect(migrationGaps([file('p/migrations/0001_a.sql'), file('p/migrations/0001_b.sql')])).toHaveLength(1)
})
