/** Compiles a service for tests that run it as a process of its own, as `npm run build` does for production. */
import { readFile } from 'node:fs/promises'
import { build, type Plugin } from 'esbuild'
import { projectFile } from '../../runtime/paths.ts'

const mebibyte = 2 ** 20
/**
 * Size of files of ingest under test: each start fills up to two for each of its streams, and nothing is promised of
 * their size.
 */
export const testLogFileBytes = 16 * mebibyte

type Values = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Room that a start makes, which takes a sixth of its processor's time at the size of a busy node. */
const smallCache = 1_000

/** Constants of services under test, by file: what tests wait for comes sooner, and a start makes less room. */
const testValues: Values = {
  'clickhouse/embedded/in-flight.ts': { endWaitMs: 5_000 },
  'schemas/limits/log-limits.ts': {
    logFileBytes: testLogFileBytes,
    segmentAgeMs: 60,
    markSpacingMs: 50,
  },
  'schemas/limits/event-limits.ts': { bodyDeadlineMs: 4_000 },
  'schemas/limits/ingest-limits.ts': {
    keyPollMs: 1_000,
    agentCacheMax: smallCache,
    hostCacheMax: smallCache,
    addressCacheMax: smallCache,
    visitorCacheMax: smallCache,
    countryCacheMax: smallCache,
    linkTableMax: 10_000,
    postTableMax: 10_000,
  },
  'schemas/limits/bot-limits.ts': { dnsKnownMax: smallCache },
  'schemas/limits/replay-limits.ts': { replaySessionsCountedMax: smallCache },
  'schemas/limits/figure-limits.ts': { foldLeaseMs: 4_000 },
  'schemas/limits/publish-limits.ts': { publishLeaseMs: 6_000, publishProlongMs: 1_500, publishRetryFirstMs: 1_000 },
  'schemas/limits/webhook-limits.ts': { webhookLeaseMs: 8_000 },
  'pipeline/queue/schedule.ts': { sweepEveryMs: 500, retryEveryMs: 200 },
}

/** Packages with files beside their code. */
const packagesOutside = ['uWebSockets.js', '@node-rs/argon2', 'chdb', 'pg-native', '@ip-location-db/*']
/** Packages in CommonJS ask for Node's own modules by it. */
const requireOfBundle = `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`

/**
 * Bundles `entry` ("clickhouse/embedded-server.ts") with its packages: to load these from their hundreds of files takes
 * a third of the processor's time of a start.
 * @param others values in place of those that services under test have
 * @returns the path of the compiled file, inside the project so that its packages are found
 */
export async function compileService(entry: string, others: Values = {}): Promise<string> {
  const outfile = projectFile('.cache/test', `${process.pid}`, entry.replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [projectFile(entry)],
    outfile,
    bundle: true,
    external: packagesOutside,
    banner: { js: requireOfBundle },
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'error',
    plugins: [valuesUnderTest({ ...testValues, ...others })],
  })
  return outfile
}

const valuesUnderTest = (all: Values): Plugin => ({
  name: 'values under test',
  setup: ({ onLoad }) => {
    for (const [file, values] of Object.entries(all)) {
      onLoad({ filter: new RegExp(`[\\\\/]${file.replace('.', '\\.')}$`) }, async ({ path }) => {
        let contents = await readFile(path, 'utf8')
        for (const [name, value] of Object.entries(values)) {
          const declared = new RegExp(`(?<=const ${name} = ).*`)
          if (!declared.test(contents)) throw new Error(`${path} has no ${name}`)
          contents = contents.replace(declared, String(value))
        }
        return { contents, loader: 'ts' }
      })
    }
  },
})
