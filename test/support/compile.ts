/** Compiles a service for tests that run it as a process of its own, as `npm run build` does for production. */
import { readFile } from 'node:fs/promises'
import { build, type Plugin } from 'esbuild'
import { projectFile } from '../../runtime/paths.ts'

const mebibyte = 2 ** 20
/** Of ingest under test: each start fills up to two for each of its streams, and nothing is promised of their size. */
export const testLogFileBytes = 16 * mebibyte

/**
 * Bundles `entry` ("clickhouse/embedded-server.ts") with all that is ours; packages stay outside.
 * @returns the path of the compiled file, inside the project so that its packages are found
 */
export async function compileService(entry: string): Promise<string> {
  const outfile = projectFile('.cache/test', `${process.pid}`, entry.replace(/\.ts$/, '.mjs'))
  await build({
    entryPoints: [projectFile(entry)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: 'inline',
    logLevel: 'error',
    plugins: [smallLogFiles],
  })
  return outfile
}

const smallLogFiles: Plugin = {
  name: 'small log files',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\bschemas\/limits\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const contents = text.replace(/(?<=const logFileBytes = ).*/, String(testLogFileBytes))
      if (contents === text) throw new Error(`${path} has no logFileBytes`)
      return { contents, loader: 'ts' }
    })
  },
}
