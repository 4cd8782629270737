import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { insertDomain, noteCheck } from '../../postgres/tables/links/short-domains.ts'
import { makeWorkspace, type TestWorkspace } from '../support/api.ts'
import { storeSettings } from '../support/command-line.ts'
import { compileService } from '../support/compile.ts'
import { setUpStores } from '../support/stores.ts'
import { countWaiting } from '../support/waiting-for-locks.ts'

const stores = setUpStores()
let mine: TestWorkspace
let file: string
const children: ChildProcess[] = []
beforeAll(async () => {
  mine = await makeWorkspace(stores)
  const domain = await insertDomain(stores.pg, mine.workspaceId, {
    host: 'go.example.com',
    token: 't',
    root_url: null,
    not_found_url: null,
  })
  await noteCheck(stores.pg, domain!.id, null)
  file = await compileService('api/main.ts')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(more: Record<string, string> = {}): ChildProcess & { said: () => string } {
  // With the usual deadline it would start, and say later what is wrong, where Postgres is slow.
  const env = { PORT: '0', LOG_LEVEL: 'warn', ANSWER_DEADLINE_MS: '120000', ...storeSettings(stores), ...more }
  const child = fork(file, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  children.push(child)
  let said = ''
  child.stderr!.on('data', (chunk) => {
    said += chunk
  })
  return Object.assign(child, { said: () => said })
}

async function readyPort(child: ReturnType<typeof start>): Promise<number> {
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the API ended before it was ready: ${child.said()}`)
  })
  ended.catch(() => {})
  const [message] = (await Promise.race([once(child, 'message'), ended])) as [{ type: string; port: number }]
  expect(message).toEqual({ type: 'ready', port: expect.any(Number) })
  return message.port
}

async function shownAddress(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/openapi.json`)
  return ((await response.json()) as { servers: { url: string }[] }).servers[0]!.url
}

test('starts from its environment alone, says when it is ready, shares its port with none, and ends with its supervisor', async () => {
  const child = start()
  const port = await readyPort(child)
  const headers = { Authorization: `Bearer ${mine.apiKey}` }
  expect((await fetch(`http://127.0.0.1:${port}/v1/workspace`, { headers })).status).toBe(200)
  expect(await shownAddress(port)).toBe(`http://localhost:${port}`)
  const second = start({ PORT: String(port) })
  expect(await once(second, 'close')).toEqual([1, null])
  expect(second.said()).toMatch(new RegExp(`^api: [^\\n]*:${port}[^\\n]*\\n$`))
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('stops on SIGTERM after the answers under way', async () => {
  const child = start({ API_HOST: 'https://api.example.com/' })
  const port = await readyPort(child)
  expect(await shownAddress(port)).toBe('https://api.example.com')
  const url = `http://127.0.0.1:${port}/v1/posts`
  const { asked } = await stores.pg.transaction(async (tx) => {
    await tx.query('LOCK TABLE posts')
    const asked = fetch(url, { headers: { Authorization: `Bearer ${mine.apiKey}` } })
    await expect.poll(() => countWaiting(stores.pg)).toBe(1)
    child.kill('SIGTERM')
    await expect.poll(() => fetch(url).catch(() => 'refused')).toBe('refused')
    return { asked }
  })
  expect((await asked).status).toBe(200)
  await expect.poll(() => child.exitCode).toBe(0)
})

test.each([
  ['DATABASE_URL', ''],
  // Than the first start of this file had.
  ['SECRET_KEY', 'another-secret-of-forty-characters-abcdef'],
  // The host is a workspace's.
  ['SHORT_URL_HOST', 'https://go.example.com/l'],
])('says in one line that %s is wrong, and ends', async (name, value) => {
  const child = start({ [name]: value })
  expect(await once(child, 'close')).toEqual([1, null])
  expect(child.said()).toMatch(new RegExp(`^api: ${name} [^\\n]+\\n$`))
})
