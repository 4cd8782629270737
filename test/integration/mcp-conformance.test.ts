/**
 * The official conformance suite's scenarios for a server that has tools alone and keeps no session. The others need
 * sampling, prompts, resources, a stream, or tools of the suite's own example server. One of those tools is an
 * operation here: the one that always refuses. The suite knows of no keys: a proxy adds one. Pings and the handshake are
 * those of the official client in test/contract/mcp-parity.test.ts.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as forward, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { getWorkspace } from '../../api/operations/workspace/get-workspace.ts'
import { projectFile } from '../../runtime/paths.ts'
import { problem } from '../../schemas/errors/problems.ts'
import { setUpApi, startApi, type TestApi } from '../support/api.ts'
import { setUpFolder } from '../support/test-folder.ts'

const { stores, mine } = setUpApi()
const folder = setUpFolder()
const suite = join(folder, 'suite.cjs')
let proxy: Server
let api: TestApi
let key = ''

beforeAll(async () => {
  // As a module it asks for a name of `node:fs` that Node 20 hasn't, for a command that isn't used here. As a script it
  // needn't.
  await build({
    entryPoints: [projectFile('node_modules/@modelcontextprotocol/conformance/dist/index.js')],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile: suite,
    logLevel: 'error',
  })
  proxy = createServer((request, response) => {
    const { method, url, headers } = request
    const withKey = { ...headers, authorization: `Bearer ${key}` }
    const onward = forward({ port: api.port, method, path: url, headers: withKey }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  proxy.listen(0)
  await once(proxy, 'listening')
  api = await startApi(stores, { apiHost: root(), operations: [...operations, refusing as never] })
})
afterAll(async () => {
  proxy?.close()
  await api?.close()
})

const refusing = {
  ...getWorkspace,
  http: { method: 'GET', path: '/v1/refusing' },
  tool: 'test_error_handling',
  handle: () => Promise.reject(problem('not_found')),
}

const root = () => `http://localhost:${(proxy.address() as AddressInfo).port}`

test.each(['tools-list', 'tools-call-error', 'dns-rebinding-protection'])('%s passes', async (scenario) => {
  key = mine.apiKey
  const child = spawn(process.execPath, [suite, 'server', '--url', `${root()}/mcp`, '--scenario', scenario], {
    cwd: folder,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  const [code] = await once(child, 'close')
  expect(said).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/)
  expect([code, said.includes('FAILURE')]).toEqual([0, false])
})
