/**
 * Bundles the browser script and the dashboard into `web/generated/`, which is committed: a service serves it without a compiler, and its
 * size can be followed. `npm run build` writes it; test/unit/browser-script.test.ts fails where it isn't what the sources
 * say.
 *
 * `svc.js` is an expression: a function of the configuration that ingest writes behind it. `svc-late.js` is a module.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { projectFile } from '../../runtime/paths.ts'

/** The texts of both files, by their paths in the project. */
export async function bundleScripts(): Promise<Record<string, string>> {
  const main = await bundle('web/script/main.ts', 'es2020')
  const late = await bundle('web/script/vitals-and-clicks.ts', 'es2022')
  return {
    'web/generated/svc.js': `(SVC=>{${main}})`,
    'web/generated/svc-late.js': `/* With web-vitals, (c) Google LLC, Apache-2.0 */\n${late}`,
  }
}

/** Script and style of the dashboard, by their paths in the project. */
export async function bundleDashboard(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: { dashboard: projectFile('web/dashboard/app.tsx') },
    absWorkingDir: projectFile(),
    outdir: projectFile('web/generated'),
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    format: 'esm',
    target: 'es2022',
  })
  const notice = '/* With Preact, (c) Jason Miller, and uPlot, (c) Leon Sorokin: MIT */\n'
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [`web/generated/${basename(path)}`, notice + text.trim()]),
  )
}

async function bundle(entry: string, target: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [projectFile(entry)],
    absWorkingDir: projectFile(),
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    // What web-vitals keeps to itself.
    mangleProps: /^_/,
    format: 'esm',
    target,
  })
  return outputFiles[0]!.text.trim()
}

/** Only what has changed: a build may run in a folder that it can't write to. */
async function generate(): Promise<void> {
  for (const [path, text] of Object.entries({ ...(await bundleScripts()), ...(await bundleDashboard()) })) {
    const file = projectFile(path)
    if (readText(file) === text) continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await generate()
