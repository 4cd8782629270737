import { describe, expect, test } from 'vitest'
import {
  emptyNamed,
  environmentReads,
  fewCases,
  leftNotes,
  longFiles,
  machinePaths,
  migrationGaps,
  oddlyNamed,
  registryHosts,
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

const rules: Rule[] = [
  {
    guarantee: 'no file of ours is longer than 300 lines',
    check: longFiles,
    offenders: [file('api/main.ts', 'a\n'.repeat(301)), file('bench/load/load.ts', 'a\n'.repeat(400))],
    innocents: [
      file('api/main.ts', 'a\n'.repeat(300)),
      file('schemas/generated/validators.mjs', 'a\n'.repeat(5000)),
      file('test/unit/long.test.ts', 'a\n'.repeat(400)),
      file('package-lock.json', 'a\n'.repeat(4000)),
    ],
  },
  {
    guarantee: 'every name says what is inside',
    check: emptyNamed,
    offenders: [
      file('api/utils.ts'),
      file('common/text.ts'),
      file('ingest/log-helpers.ts'),
      file('api/key-manager.test.ts'),
    ],
    innocents: [file('api/operations/run.ts'), file('runtime/commons.ts'), file('docs/services.md')],
  },
  {
    guarantee: 'every source file has a kebab-case name',
    check: oddlyNamed,
    offenders: [file('api/readOverview.ts'), file('ingest/key_table.ts')],
    innocents: [file('api/read-overview.ts'), file('test/unit/key-table.test.ts'), file('README.md')],
  },
  {
    guarantee: 'only runtime/config.ts reads the environment',
    check: environmentReads,
    offenders: [
      file('api/main.ts', 'const a = process.env.PORT'),
      file('start/main.ts', "const a = process?.['env']".replace("?.['env']", "['env']")),
      file('cli/svc.ts', "import { env } from 'node:process'"),
    ],
    innocents: [
      file('runtime/config.ts', 'process.env'),
      file('start/bootstrap.mjs', 'process.env'),
      file('test/support/stores.ts', 'process.env'),
      file('api/main.ts', "// process.env\nconst a = 'process.env'; const env = process.pid; a.env"),
    ],
  },
  {
    guarantee: 'no test is left out, and none runs alone',
    check: weakenedTests,
    offenders: [
      file('test/unit/a.test.ts', "test.only('a', () => {})"),
      file('test/unit/a.test.ts', "describe.concurrent.skip('a', () => {})"),
      file('test/unit/a.test.ts', "it.todo('a')"),
      file('test/unit/a.test.ts', "xit('a', () => {})"),
      file('test/unit/a.test.ts', "test.skipIf(isSlow)('a', () => {})"),
      file('test/unit/a.test.ts', "test.runIf(isFast)('a', () => {})"),
      file('test/unit/a.test.ts', "test('a', ({ skip }) => leave())"),
      file('test/unit/a.test.ts', "test('a', ({ task, skip: leave }) => leave())"),
      file('test/unit/a.test.ts', "test('a', { skip: true }, () => {})"),
      file('test/unit/a.test.ts', "test('a', (context) => context['skip']())"),
    ],
    innocents: [
      file('test/unit/a.test.ts', "test('never .skip', () => { only(skip); of('take', 'skip', 'seal') }) // test.only"),
      file('test/support/left-out.ts', 'const { skip } = context'),
    ],
  },
  {
    guarantee: 'tests draw from a seed',
    check: unseededTests,
    offenders: [file('test/unit/a.test.ts', 'sleep(Math.random() * 60)')],
    innocents: [file('test/unit/a.test.ts', "page('Math.random()'); draw()"), file('api/main.ts', 'Math.random()')],
  },
  {
    guarantee: 'a property is tried on at least 50 cases',
    check: fewCases,
    offenders: [
      file('test/property/a.test.ts', 'fc.assert(property, { numRuns: 8 })'),
      file(
        'test/property/a.test.ts',
        'fc.assert(property, { seed, numRuns: isLong ? 3_000 : 20, endOnFailure: true })',
      ),
      file(
        'test/property/a.test.ts',
        "const runs = Number(process.env['RUNS'] ?? (isLong ? 3000 : 12))\nconst chunk = 60",
      ),
    ],
    innocents: [
      file('test/property/a.test.ts', 'fc.assert(property, { numRuns: isLong ? 1_000 : 50 }); f({ numRuns })'),
      file('test/property/a.test.ts', "const runs = Number(process.env['RUNS'] ?? 50)\nconst chunk = 12"),
    ],
  },
  {
    guarantee: 'nothing is left to be done in a comment',
    check: leftNotes,
    offenders: [file('api/main.ts', `// ${later}: later`), file('README.md', `- FIX${'ME'}`)],
    innocents: [file('api/main.ts', '// TODOS are shown by the calendar')],
  },
  {
    guarantee: 'no file names a place on one machine',
    check: machinePaths,
    offenders: [
      file('README.md', `cd ${slash}home/ada/project`),
      file('bench/results/a.json', `"path": "${slash}root/x"`),
      file('test/unit/a.test.ts', `readFileSync('${slash}work/x')`),
    ],
    innocents: [
      file('test/unit/a.test.ts', "visit('https://example.test/home/ada', './work/x', '/homepage', '/work')"),
    ],
  },
  {
    guarantee: 'no file names a package registry',
    check: registryHosts,
    offenders: [
      file('.npmrc', `regis${'try'}=https://packages.example.test/`),
      file('package-lock.json', '"resolved": "https://packages.example.test/a.tgz"'),
      file('README.md', `https://regis${'try'}.example.org/a`),
      file('.npmrc', `//packages.example.test/:_auth${'Token'}=a`),
    ],
    innocents: [
      file('README.md', 'installed from the npm registry by `npm ci`'),
      file('api/registry.ts', 'registry.get()'),
    ],
  },
  {
    guarantee: 'migrations are numbered without a gap',
    check: migrationGaps,
    offenders: [
      file('postgres/migrations/0002_b.sql'),
      file('clickhouse/migrations/1_a.sql'),
      file('clickhouse/migrations/0001-a.sql'),
      file('clickhouse/migrations/0001_a.ts'),
    ],
    innocents: [file('postgres/migrations/0001_a.sql'), file('clickhouse/migrations/0001_b_c.sql')],
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
