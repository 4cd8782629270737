/**
 * Bundles the browser script and the dashboard into `web/generated/`, which is committed: a service serves it without a compiler, and its
 * size can be followed. `npm run build` writes it; test/unit/browser-script.test.ts fails where it isn't what the sources
 * say.
 *
 * `svc.js` is an expression: a function of the configuration that ingest writes behind it. `svc-late.js`, `svc-optional.js` and `svc-replay.js`
 * are modules.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { minify } from 'terser'
import { textVersion } from '../../runtime/http/etag.ts'
import { projectFile } from '../../runtime/paths.ts'
import { drawWorld } from './world-map.ts'

/** The texts of the script's files, by their paths in the project. The second file has two forms, of which a page gets one. */
export async function bundleScripts(): Promise<Record<string, string>> {
  const main = await bundle('web/script/main.ts', 'es2020', { isMangled: true, windowNames })
  const recorder = withRrweb(await bundle('web/script/replay/main.ts', 'es2022'))
  // The second file asks for the third by its content: both are kept by browsers for a year.
  const texts = { REPLAY_VERSION: textVersion(recorder) }
  const late = await bundle('web/script/vitals-and-clicks.ts', 'es2022', { isMangled: true, windowNames, texts })
  const optional = await bundle('web/script/optional.ts', 'es2022', { isMangled: true, windowNames, texts })
  return {
    'web/generated/svc.js': `(SVC=>{try{${main}}catch{}})`,
    'web/generated/svc-replay.js': recorder,
    'web/generated/svc-late.js': withVitals(late),
    'web/generated/svc-optional.js': withVitals(optional),
  }
}

/** Pages may have a variable of such a name at the top level of a plain script: `const URL = '/api'`. Ours would find theirs. */
const windowNames = ['URL', 'crypto', 'history', 'screen']

const dashboardFolder = 'web/generated/dashboard'

/**
 * Script and style of the dashboard, by their paths in the project. Each page is a chunk of its own, and each name has
 * a hash of its content. A list says what a page needs at once.
 */
export async function bundleDashboard(): Promise<Record<string, string>> {
  const notice = '/* With Preact, (c) Jason Miller, and uPlot, (c) Leon Sorokin: MIT. Map: Natural Earth */'
  const { outputFiles, metafile } = await build({
    entryPoints: { dashboard: projectFile('web/dashboard/app.tsx') },
    absWorkingDir: projectFile(),
    outdir: projectFile(dashboardFolder),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    banner: { js: notice, css: notice },
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    format: 'esm',
    target: 'es2022',
  })
  const files = outputFiles.map(({ path, text }) => [`${dashboardFolder}/${basename(path)}`, text.trim()] as const)
  const [script, entry] = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith('app.tsx'),
  )!
  const chunks = entry.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path))
  // Without imports: its document has no origin that may import.
  const recordings = withRrweb(await bundle('web/player/main.ts', 'es2022', { format: 'iife' }))
  const player = `player-${textVersion(recordings)}.js`
  const shown = { script: basename(script), style: basename(entry.cssBundle!), chunks, player }
  return {
    ...Object.fromEntries(files),
    [`${dashboardFolder}/${player}`]: recordings,
    [`${dashboardFolder}/bundle.json`]: `${JSON.stringify(shown)}\n`,
  }
}

function withVitals(text: string): string {
  return `/* With web-vitals, (c) Google LLC, Apache-2.0 */\n${text}`
}

function withRrweb(text: string): string {
  return `/* With rrweb, (c) rrweb contributors: MIT */\n${text}`
}

interface Bundling {
  readonly format?: 'esm' | 'iife'
  /** Whether names that begin with `_` are shortened: those that web-vitals keeps to itself. */
  readonly isMangled?: boolean
  /** Names that stand for the window's members, whatever else the page calls by them. */
  readonly windowNames?: readonly string[]
  /** Texts in place of names. */
  readonly texts?: Readonly<Record<string, string>>
}

async function bundle(
  entry: string,
  target: string,
  { format = 'esm', isMangled = false, windowNames = [], texts = {} }: Bundling = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [projectFile(entry)],
    absWorkingDir: projectFile(),
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    legalComments: 'none',
    ...(isMangled && { mangleProps: /^_/ }),
    define: Object.fromEntries([
      ...windowNames.map((name) => [name, `window.${name}`]),
      ...Object.entries(texts).map(([name, text]) => [name, JSON.stringify(text)]),
    ]),
    format,
    target,
  })
  return shorten(outputFiles[0]!.text, format === 'esm')
}

/** @returns a script that does the same in 1 to 3 % less than the bundler's own minifier needs */
async function shorten(text: string, isModule: boolean): Promise<string> {
  const { code } = await minify(text, {
    module: isModule,
    ecma: 2020,
    compress: { passes: 3 },
    format: { comments: false },
  })
  return code!
}

/** Only what has changed: a build may run in a folder that it can't write to. */
async function generate(): Promise<void> {
  // The dashboard's bundle has it inside.
  write('web/generated/world.json', `${JSON.stringify(drawWorld())}\n`)
  const dashboard = await bundleDashboard()
  for (const [path, text] of Object.entries({ ...(await bundleScripts()), ...dashboard })) {
    write(path, text)
  }
  for (const name of readdirSync(projectFile(dashboardFolder))) {
    if (dashboard[`${dashboardFolder}/${name}`] === undefined) rmSync(projectFile(dashboardFolder, name))
  }
}

function write(path: string, text: string): void {
  const file = projectFile(path)
  if (readText(file) === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) await generate()
