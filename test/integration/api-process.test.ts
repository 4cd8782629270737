import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { compileService } from '../support/compile.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
let mine: TestWorkspace
let file: string
const children: ChildProcess[] = []
beforeAll(async () => {
  mine = await makeWorkspace(stores)
  file = await compileService('api/main.ts')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function environment(): Record<string, string> {
  const { databaseUrl, redisUrl, clickhouseUrl, secretKey } = stores
  return {
    PORT: '0',
    LOG_LEVEL: 'warn',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    SECRET_KEY: secretKey,
  }
}

function start(env: Record<string, string>): ChildProcess & { said: () => string } {
  const child = fork(file, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  children.push(child)
  let said = ''
  child.stderr!.on('data', (chunk) => {
    said += chunk
  })
  return Object.assign(child, { said: () => said })
}

async function readyPort(child: ChildProcess): Promise<number> {
  const [message] = (await once(child, 'message')) as [{ type: string; port: number }]
  expect(message).toEqual({ type: 'ready', port: expect.any(Number) })
  return message.port
}

test('starts from its environment alone, says when it is ready, and shows the address it is asked at', async () => {
  const child = start(environment())
  const url = `http://127.0.0.1:${await readyPort(child)}`
  const headers = { Authorization: `Bearer ${mine.apiKey}` }
  expect((await fetch(`${url}/v1/workspace`, { headers })).status).toBe(200)
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as { servers: { url: string }[] }
  expect(document.servers[0]!.url).toBe(url.replace('127.0.0.1', 'localhost'))
})

test('stops on SIGTERM after the answers under way, and with its supervisor', async () => {
  const child = start({ ...environment(), API_HOST: 'https://api.example.com/' })
  const url = `http://127.0.0.1:${await readyPort(child)}`
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as { servers: { url: string }[] }
  expect(document.servers[0]!.url).toBe('https://api.example.com')
  const answer = fetch(`${url}/v1/analytics/overview`, { headers: { Authorization: `Bearer ${mine.apiKey}` } })
  await new Promise((resolve) => setTimeout(resolve, 20))
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect((await answer).status).toBe(200)

  const orphan = start(environment())
  await readyPort(orphan)
  orphan.disconnect()
  expect(await once(orphan, 'exit')).toEqual([0, null])
})

test.each([
  ['DATABASE_URL', ''],
  ['CLICKHOUSE_URL', 'postgres://x'],
  ['PORT', 'eighty'],
  ['SECRET_KEY', 'short'],
])('says in one line that %s is wrong, and ends', async (name, value) => {
  const child = start({ ...environment(), [name]: value })
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(child.said()).toMatch(new RegExp(`^api: ${name} [^\\n]+\\n$`))
})

test('says in one line that the port is in use', async () => {
  const port = await readyPort(start(environment()))
  const child = start({ ...environment(), PORT: String(port) })
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(child.said()).toMatch(new RegExp(`^api: [^\\n]*:${port}[^\\n]*\\n$`))
})
