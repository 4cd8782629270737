/**
 * Bundles the browser script into `web/generated/`, which is committed: a service serves it without a compiler, and its
 * size can be followed. `npm run build` writes it; test/unit/browser-script.test.ts fails where it isn't what the sources
 * say.
 *
 * `svc.js` is an expression: a function of the configuration that ingest writes behind it. `svc-late.js` is a module.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { projectFile } from '../../runtime/paths.ts'

/** The texts of both files, by their paths in the project. */
export async function bundleScripts(): Promise<Record<string, string>> {
  const main = await bundle('web/script/main.ts', 'iife', 'es2020')
  const late = await bundle('web/script/late.ts', 'esm', 'es2022')
  return {
    'web/generated/svc.js': `(SVC=>{${main}})`,
    'web/generated/svc-late.js': `/* With web-vitals, (c) Google LLC, Apache-2.0 */\n${late}`,
  }
}

async function bundle(entry: string, format: 'iife' | 'esm', target: string): Promise<string> {
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
    plugins: [settledOptions],
    ...{ format, target },
  })
  return outputFiles[0]!.text.trim()
}

/**
 * web-vitals asks in many places for options that we don't set. With their answers written in, the branches that never
 * run are left out, a tenth of its size. Held to the package as it is by test/browser/vitals.test.ts.
 */
const settled: readonly (readonly [place: RegExp, answer: string])[] = [
  [/checkSoftNavsEnabled\(opts\)/g, 'false'],
  [/opts\.reportAllChanges/g, 'false'],
  [/entry\.entryType === '(soft-navigation|interaction-contentful-paint)'/g, 'false'],
]

const settledOptions: Plugin = {
  name: 'options of web-vitals',
  setup(builder) {
    builder.onLoad({ filter: /web-vitals\/dist\/modules\/on[A-Z]{3}\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8')
      for (const [place, answer] of settled) contents = contents.replace(place, answer)
      return { contents }
    })
  },
}

/** Only what has changed: a build may run in a folder that it can't write to. */
async function generate(): Promise<void> {
  for (const [path, text] of Object.entries(await bundleScripts())) {
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
