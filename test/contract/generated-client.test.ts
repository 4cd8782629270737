/**
 * A client that a generator makes from the document compiles, and reaches every operation of a live API. Somebody who
 * writes no request by hand gets this client. The program that drives it is written here, one typed call an operation.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateApi } from 'swagger-typescript-api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation } from '../../api/operations/define.ts'
import { operations } from '../../api/operations/registry.ts'
import { makeOpenApi, operationId } from '../../api/transports/openapi.ts'
import { projectFile } from '../../runtime/paths.ts'
import { setUpApi } from '../support/api.ts'
import { goodBody, type Made, madePath, neededNames, pathNames, shownOf, takesForm } from '../support/api-requests.ts'
import { pixel } from '../support/media-files.ts'

const run = promisify(execFile)
/** Within the project, so that the compiler finds Node's types. */
const folder = projectFile('.cache/test', `client-${process.pid}`)

const { stores, api, mine } = setUpApi()
beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** `create_link` → `createLink`, as the generator names it. */
function methodOf(operation: Operation): string {
  return operationId(operation).replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** One call: path parameters, then an object of the query where there is one, then the body. */
function callOf(operation: Operation, values: Readonly<Made>): string {
  const args = pathNames(operation).map((name) => String(values[name]))
  if (shownOf(operation).parameters?.some((parameter) => parameter.in === 'query')) {
    const needed = neededNames(operation.http.path)
    args.push(JSON.stringify(Object.fromEntries(needed.map((name) => [name, values[name]]))))
  }
  if (takesForm(operation)) args.push("{ file: new File([pixel], 'pixel.png', { type: 'image/png' }), alt_text: 'A' }")
  const { body } = goodBody(operation, values)
  if (typeof body === 'string') args.push(body)
  return `await report('${operationId(operation)}', () => client.v1.${methodOf(operation)}(${args.join(', ')}))`
}

async function programOf(listed: readonly Operation[]): Promise<string> {
  const calls: string[] = []
  const asker = { api, stores, workspaceId: mine.workspaceId, key: mine.apiKey }
  for (const operation of listed) calls.push(callOf(operation, await madePath(operation, asker)))
  return `import { Api } from './client.ts'
const client = new Api({
  baseUrl: ${JSON.stringify(api.url)},
  baseApiParams: { headers: { Authorization: 'Bearer ${mine.apiKey}' }, secure: true },
})
const pixel = Buffer.from('${pixel.toString('base64')}', 'base64')
async function report(id: string, call: () => Promise<Response>): Promise<void> {
  const answer = await call().catch((error: unknown) => error as Response & { error?: unknown })
  console.log(JSON.stringify([id, answer.status, (answer as { error?: unknown }).error ?? null]))
}
${calls.join('\n')}
// The answer is typed: this compiles only while the document says so.
const name: string = (await client.v1.getWorkspace()).data.name
const visitors: number = (await client.v1.analyticsOverview({ days: 7 })).data.top_sources.reduce((sum, row) => sum + row.visitors, 0)
console.log(JSON.stringify(['typed', name, visitors]))
// And a call that isn't the document's doesn't compile.
// @ts-expect-error
export const odd = () => client.v1.analyticsOverview({ days: 'x' })
`
}

async function compile(): Promise<string> {
  const options = {
    compilerOptions: {
      target: 'ES2023',
      lib: ['ES2023', 'DOM', 'DOM.Iterable'],
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      types: ['node'],
      strict: true,
      skipLibCheck: true,
      outDir: './out',
      rootDir: '.',
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
    },
    include: ['*.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
  const tsc = projectFile('node_modules/typescript/bin/tsc')
  return run(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
}

test('a generated client compiles and gets 200 of every operation, called with the examples of the document', async () => {
  const spec = makeOpenApi(operations, api.url)
  await generateApi({
    spec: spec as never,
    output: folder,
    fileName: 'client.ts',
    silent: true,
    httpClientType: 'fetch',
    sortRoutes: false,
  })
  writeFileSync(join(folder, 'program.ts'), await programOf(operations))
  expect(await compile()).toBe('')
  const { stdout } = await run(process.execPath, [join(folder, 'out/program.js')])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown[])
  expect(lines).toEqual([
    ...operations.map((operation) => [operationId(operation), 200, null]),
    ['typed', expect.any(String), 0],
  ])
})
