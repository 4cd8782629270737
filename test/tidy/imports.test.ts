import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { rooms, vendors } from './import-table.ts'
import { bootstrapBeyondNode, forbiddenArrows, type PackageJson, strayVendors, unusedVendors } from './imports.ts'
import { projectFiles } from './project-files.ts'
import { importsOf } from './source-scan.ts'

const files = projectFiles()
const manifest = JSON.parse(readFileSync(projectFile('package.json'), 'utf8')) as PackageJson

const offender = (path: string, text: string) => [{ path, text }]

test('every import between our folders is one that the table allows', () => {
  expect(forbiddenArrows(files)).toEqual([])
})

test('every package enters at its own door, and every dependency, door and tool is used', () => {
  expect(strayVendors(files, manifest)).toEqual([])
  expect(unusedVendors(files, manifest)).toEqual([])
})

test('the bootstrap needs nothing but Node', () => {
  expect(bootstrapBeyondNode(files)).toEqual([])
})

test('the container image keeps the packages that only `npm start` needs', () => {
  const [, kept] = /for name in ([^;]+);/.exec(readFileSync(projectFile('Dockerfile'), 'utf8'))!
  const isOfStart = (door: string) => door.startsWith('start/') || door.startsWith('clickhouse/embedded')
  const needed = Object.entries(vendors).filter(
    ([name, doors]) => doors.some(isOfStart) && !manifest.dependencies?.[name],
  )
  expect(kept!.split(' ')).toEqual(needed.map(([name]) => name).sort())
})

describe('the check of imports can fail', () => {
  test.each([
    ['runtime/clock.ts', "import { a } from '../schemas/limits.ts'"],
    ['schemas/event/row.ts', "export { a } from '../../runtime/clock.ts'"],
    ['clickhouse/client.ts', "const x = await import('../postgres/client.ts')"],
    ['postgres/tables/keys.ts', "import '../../ingest/main.ts'"],
    ['ingest/http/receive.ts', "import type { Postgres } from '../../postgres/client.ts'"],
    ['ingest/log/writer.ts', "import { insert } from '../../clickhouse/client.ts'"],
    ['pipeline/queue/worker.ts', "import { run } from '../../api/operations/run.ts'"],
    ['api/operations/run.ts', "import { connectPostgres } from '../../postgres/client.ts'"],
    ['api/guards/authenticate.ts', "import { migrate } from '../../clickhouse/migrate.ts'"],
    ['start/main.ts', "import { replay } from '../cli/replay.ts'"],
    ['cli/svc.ts', "import { supervise } from '../start/supervisor.ts'"],
    ['api/main.ts', "import { freshStores } from '../test/support/stores.ts'"],
    ['ingest/main.ts', "import { load } from '../bench/load.ts'"],
    ['ingest/main.ts', "new URL('../start/main.ts', import.meta.url)"],
    ['runtime/paths.ts', "import manifest from '../package.json'"],
    ['lib/thing.ts', "import { a } from './other.ts'"],
  ])('%s: %s', (path, text) => {
    expect(forbiddenArrows(offender(path, text))).toHaveLength(1)
  })

  test.each([
    ['ingest/main.ts', "import { connectClickHouse } from '../clickhouse/client.ts'"],
    ['ingest/ship/load.ts', "import { connectClickHouse } from '../../clickhouse/client.ts'"],
    ['api/operations/analytics/read.ts', "import type { Postgres } from '../../../postgres/client.ts'"],
    ['api/operations/read.ts', "// import '../../ingest/main.ts'\nconst text = \"import '../ingest/main.ts'\""],
    ['test/unit/any.test.ts', "import { supervise } from '../../start/supervisor.ts'"],
  ])('but allows %s: %s', (path, text) => {
    expect(forbiddenArrows(offender(path, text))).toEqual([])
  })

  test('on a package that enters by another door, that nobody declared, or that nobody uses', () => {
    const pg = offender('postgres/client.ts', "import pg from 'pg'")
    const stray = (path: string, text: string) => strayVendors(offender(path, text), manifest).length
    expect(stray('ingest/main.ts', "import { Pool } from 'pg'")).toBe(1)
    expect(stray('ingest/main.ts', "import left from 'left-pad'")).toBe(1)
    expect(strayVendors(pg, manifest)).toEqual([])
    for (const without of [{ dependencies: {} }, { devDependencies: { pg: '8.0.0' } }])
      expect(strayVendors(pg, without)).toHaveLength(1)
    // `npm start` may run what production lacks; nothing else may.
    expect(stray('start/front/front.ts', "import { createProxyServer } from 'httpxy'")).toBe(0)

    const { dependencies, devDependencies } = manifest
    const unused = unusedVendors(files, {
      dependencies: { ...dependencies, httpxy: '0.5.6', 'left-pad': '1.0.0' },
      devDependencies: { ...devDependencies, '@types/left-pad': '1.0.0' },
    })
    const told = (name: string) => unused.filter((offence) => offence.includes(name)).length
    expect([told('httpxy'), told('left-pad')]).toEqual([1, 2])
    expect(unusedVendors([], manifest).length).toBeGreaterThan(Object.keys(dependencies ?? {}).length)
  })

  test('on a bootstrap that imports a package or built code', () => {
    const text = "import { pino } from 'pino'\nawait import('../dist/start/main.js')\nimport fs from 'node:fs'"
    expect(bootstrapBeyondNode(offender('start/bootstrap.mjs', text))).toHaveLength(2)
  })
})

describe('the scan of imports', () => {
  test('finds every form of import and nothing in comments, texts, templates or regular expressions', () => {
    const text = `
      import a from 'm1'
      import { type B, c } from 'm2'
      import type { D } from 'm3'
      import type, { e } from 'm4'
      export * from 'm5'
      export type { F } from 'm6'
      import 'm7'
      const g = await import('m8')
      const h = require('m9')
      type I = typeof import('m10')
      new URL('m11', import.meta.url)
      import.meta.resolve('m12')
      // import 'no1'
      /* import 'no2' */
      const j = "import 'no3'"
      const k = \`import 'no4' \${c(\`import 'no5' \${{ a: 1 }}\`)} import 'no6'\`
      const l = /import 'no7/.test(j) && a / 2 / c
      import m from 'm13'
      createRequire(import.meta.url).resolve('m14')
      require(\`@m15/\${platform}\`)
      path.resolve('no8')`
    const found = importsOf({ text })
    expect(found.map(({ specifier }) => specifier)).toEqual([
      ...Array.from({ length: 14 }, (_, at) => `m${at + 1}`),
      '@m15/',
    ])
    expect(found.filter(({ typeOnly }) => typeOnly).map(({ specifier }) => specifier)).toEqual(['m3', 'm6', 'm10'])
    expect(found[0]!.line).toBe(2)
    expect(found.at(-1)!.line).toBe(21)
  })

  test('the table itself has no room twice and none that may import a test', () => {
    expect(new Set(rooms.map(({ at }) => at)).size).toBe(rooms.length)
    for (const { may } of rooms) expect(may.filter((target) => /^(test|bench|start|cli)\//.test(target))).toEqual([])
  })
})
