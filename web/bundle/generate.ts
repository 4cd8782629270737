/**
 * Bundles the browser script and the dashboard into `web/generated/`, which is committed: a service serves it without a compiler, and its
 * size can be followed. `npm run build` writes it; test/unit/browser-script.test.ts fails where it isn't what the sources
 * say.
 *
 * `svc.js` is an expression: a function of the configuration that ingest writes behind it. `svc-late.js` is a module.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Message, type Plugin } from 'esbuild'
import { projectFile } from '../../runtime/paths.ts'
import { drawWorld } from './world-map.ts'

/** The texts of both files, by their paths in the project. */
export async function bundleScripts(): Promise<Record<string, string>> {
  const main = await bundle('web/script/main.ts', 'es2020')
  const late = await bundle('web/script/late.ts', 'es2022')
  return {
    'web/generated/svc.js': `(SVC=>{${main}})`,
    'web/generated/svc-late.js': `/* With web-vitals, (c) Google LLC, Apache-2.0 */\n${late}`,
  }
}

const dashboardFolder = 'web/generated/dashboard'

/**
 * Script and style of the dashboard, by their paths in the project: each page a chunk of its own, each name with a hash of its
 * content, and a list of what a page needs at once.
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
  const shown = { script: basename(script), style: basename(entry.cssBundle!), chunks }
  return { ...Object.fromEntries(files), [`${dashboardFolder}/bundle.json`]: `${JSON.stringify(shown)}\n` }
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
    metafile: true,
    plugins: [leanVitals],
    format: 'esm',
    target,
  })
  return outputFiles[0]!.text.trim()
}

/**
 * What web-vitals has for options that we don't set (soft navigations, every change reported) and for fields that we
 * don't read would be a sixth of it. That the rest measures the same is held by test/browser/vitals.test.ts; another
 * version in which a place isn't found fails the bundle.
 */
const leftOut: readonly (readonly [place: RegExp, instead: string])[] = [
  [/const softNavsEnabled = .*\n/g, ''],
  [/!softNavsEnabled/g, 'true'],
  [/softNavsEnabled|checkSoftNavsEnabled\(opts\)/g, 'false'],
  [/opts\.reportAllChanges/g, 'false'],
  [/opts\.durationThreshold \?\? /g, ''],
  [/entry\.entryType === '(soft-navigation|interaction-contentful-paint)'/g, 'false'],
  [/entry\.entryType === 'largest-contentful-paint'/g, 'true'],
  [/navigation === 'soft-navigation'/g, 'false'],
  [/const handleSoftNavEntry = [\s\S]*?\n {8}\};\n/g, ''],
  [/const \w+EntryManager = .*\n|\w+EntryManager\._processEntry\(entry\);/g, ''],
  [/metric\.navigationId = .*\n/g, ''],
  [/, metric\.navigationId, metric\.navigationInteractionId, metric\.navigationURL, getBFCacheRestoreTime\(\)/g, ''],
  [/, navigationId(?: = 0)?, navigationInteractionId, navigationURL, navigationStartTime/g, ''],
  [/const hardNavId = .*\n|navigationId: [\s\S]*? \|\| 0,\n/g, ''],
]

const leanVitals: Plugin = {
  name: 'lean web-vitals',
  setup(builder) {
    const unseen = new Set(leftOut)
    builder.onLoad({ filter: /web-vitals\/dist\/modules\/(on[A-Z]{3}|lib\/initMetric)\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8')
      for (const part of leftOut) {
        const left = contents.replace(...part)
        if (left !== contents) unseen.delete(part)
        contents = left
      }
      return { contents }
    })
    builder.onEnd(({ errors, metafile }) => {
      const isLate = Object.keys(metafile?.inputs ?? {}).some((path) => path.includes('web-vitals'))
      for (const [place] of isLate ? unseen : []) errors.push({ text: `web-vitals has no ${place}` } as Message)
    })
  },
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
