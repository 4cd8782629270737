/**
 * Compiles the schemas of event-schemas.ts into `generated/validators.js`, which is committed: a service then starts
 * without a compiler, and the code that runs can be read. `npm run generate` writes it;
 * test/unit/generated-validators.test.ts fails where it differs from the schemas.
 *
 * Each schema has two forms. `fast` stops at the first fault and measures lengths in UTF-16 units. A text has at least
 * as many of these as code points, so anything that `fast` takes is valid. `exact` counts code points and finds every
 * fault: it decides and explains the rest.
 */
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { build } from 'esbuild'
import { projectFile } from '../runtime/paths.ts'
import { bodySchemas } from './event/event-schemas.ts'
import { generateCrawlers } from './generate-crawlers.ts'

export const generatedFile = projectFile('schemas/generated/validators.js')
export const crawlersFile = projectFile('schemas/generated/crawlers.js')

const header = `// Made by schemas/generate.ts from schemas/event/event-schemas.ts: change those and run \`npm run generate\`.\n`

/** The text of the generated module: two exports, \`fast\` and \`exact\`, each an object of validators by schema name. */
export async function generateValidators(): Promise<string> {
  const modules: Record<string, string> = {
    fast: compile({ unicode: false, allErrors: false }),
    exact: compile({ unicode: true, allErrors: true }),
  }
  const { outputFiles } = await build({
    stdin: { contents: `export * as fast from 'fast'\nexport * as exact from 'exact'\n`, resolveDir: projectFile() },
    bundle: true,
    // Paths in comments are relative to it.
    absWorkingDir: projectFile(),
    write: false,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    banner: { js: header },
    plugins: [
      {
        name: 'compiled schemas',
        setup(builder) {
          builder.onResolve({ filter: /^(fast|exact)$/ }, ({ path }) => ({ path, namespace: 'schemas' }))
          builder.onLoad({ filter: /./, namespace: 'schemas' }, ({ path }) => ({
            contents: modules[path]!,
            resolveDir: projectFile(),
          }))
        },
      },
    ],
  })
  return outputFiles[0]!.text
}

function compile(options: { unicode: boolean; allErrors: boolean }): string {
  const ajv = new Ajv({
    ...options,
    messages: false,
    logger: false,
    strict: true,
    allowUnionTypes: true,
    code: { source: true, esm: true, lines: true },
  })
  for (const [name, schema] of Object.entries(bodySchemas)) ajv.addSchema(schema, name)
  const names = Object.fromEntries(Object.keys(bodySchemas).map((name) => [name, name]))
  // The package is CommonJS: its default export is the module object, with the function again as `default`.
  return (standalone as unknown as { default: typeof standalone.default }).default(ajv, names)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await writeFile(generatedFile, await generateValidators())
  await writeFile(crawlersFile, generateCrawlers())
}
