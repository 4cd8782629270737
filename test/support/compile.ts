/** Compiles a service for tests that run it as a process of its own, as `npm run build` does for production. */
import { build } from 'esbuild'
import { projectFile } from '../../runtime/paths.ts'

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
  })
  return outfile
}
