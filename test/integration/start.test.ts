/** `npm start`, as its user meets it. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isFolderInUse } from '../../runtime/folder-lock.mjs'
import { projectFile } from '../../runtime/paths.ts'
import { leaveOut } from '../support/left-out.ts'
import { patientPostgres } from '../support/patient-clients.ts'
import { isAlive, startProduct, type TestProduct } from '../support/product.ts'
import { exchange } from '../support/raw-http.ts'
import { freshStores } from '../support/stores.ts'
import { setUpFolder } from '../support/test-folder.ts'

const dataDir = setUpFolder()
const emptyFolder = setUpFolder()
const othersFolder = setUpFolder()
let product: TestProduct

beforeAll(async () => {
  product = await startProduct(dataDir)
  await vi.waitUntil(() => product.output.includes('and read it'), { timeout: 60_000 })
})
afterAll(async () => void (await product?.stop()))

const health = () => fetch(`${product.dev.tracking_url}/health`).then(({ status }) => status)
const workspace = () =>
  fetch(`${product.dev.base_url}/workspace`, { headers: { authorization: `Bearer ${product.dev.api_key}` } }).then(
    ({ status }) => status,
    () => 0,
  )

/** Runs the start that is expected to refuse; returns its exit code and its lines. */
async function refusedStart(env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [projectFile('dist/start/main.js')], {
    env: { ...process.env, PORT: '0', ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  await once(child, 'close')
  return { code: child.exitCode, lines: output.trim().split('\n') }
}

test('answers at the address of MCP that dev.json names', async () => {
  const dev = JSON.parse(readFileSync(join(dataDir, 'dev.json'), 'utf8')) as { mcp_url: string; api_key: string }
  const headers = { Authorization: `Bearer ${dev.api_key}`, 'Content-Type': 'application/json' }
  const asked = async (more: Record<string, string>, body: object) =>
    fetch(dev.mcp_url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'svc.get_workspace' } }
  expect(await (await asked({}, call)).json()).toMatchObject({
    result: { structuredContent: { slug: 'my-workspace' } },
  })
  // Our own pages are at that origin, also by this machine's other name.
  const { port } = new URL(dev.mcp_url)
  const origins = [`http://localhost:${port}`, `http://127.0.0.1:${port}`, 'http://evil.example']
  const statuses = await Promise.all(origins.map(async (Origin) => (await asked({ Origin }, call)).status))
  expect(statuses).toEqual([200, 200, 403])
})

test('writes dev.json for its owner alone, with every member, and pids that live', () => {
  const file = join(dataDir, 'dev.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600)
  const dev = JSON.parse(readFileSync(file, 'utf8'))
  const { port } = new URL(dev.base_url)
  expect(dev).toEqual({
    base_url: `http://localhost:${port}/v1`,
    api_host: `http://localhost:${port}`,
    mcp_url: `http://localhost:${port}/mcp`,
    tracking_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/growth$/),
    short_url_host: `http://localhost:${port}/l`,
    tracking_key: expect.stringMatching(/^svc_pk_\w{24}$/),
    api_key: expect.stringMatching(/^svc_sk_\w{38}$/),
    workspace_id: expect.any(Number),
    clickhouse_url: expect.stringMatching(/^http:/),
    database_url: expect.stringMatching(/^postgres:/),
    redis_url: expect.stringMatching(/^redis:/),
    data_dir: dataDir,
    has_mail: false,
    pids: Object.fromEntries(
      ['ingest', 'api', 'pipeline', 'clickhouse', 'postgres', 'redis'].map((name) => [name, expect.any(Number)]),
    ),
  })
  for (const pid of Object.values<number>(dev.pids)) expect(() => process.kill(pid, 0)).not.toThrow()
})

test('prints lines that work: an event is sent and read back as it says', async () => {
  const commands = product.output.split('\n').filter((line) => line.trim().startsWith('curl '))
  expect(commands).toHaveLength(2)
  const shell = (command: string) => promisify(execFile)('bash', ['-c', command.replace('curl', 'curl -sS')])
  const sent = JSON.parse((await shell(commands[0]!)).stdout)
  expect(sent).toMatchObject({ accepted: true, deduplicated: false })
  const read = async () => JSON.parse((await shell(commands[1]!)).stdout).metrics?.pageviews
  await expect.poll(read).toBe(1)
})

test('names the demo site, where a browser sends events', async () => {
  const [address] = /http:\S*\/demo\/$/m.exec(product.output) ?? []
  const page = await fetch(address!)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(product.dev.tracking_key)])
})

test('shows a page at its root that says whether all is well and holds no secret', async () => {
  const answer = await fetch(new URL('/', product.dev.base_url))
  const page = await answer.text()
  expect(answer.status).toBe(200)
  expect(page).toContain('All is well')
  for (const secret of [product.dev.api_key, product.dev.tracking_key, new URL(product.dev.database_url).password]) {
    expect(page).not.toContain(secret)
  }
})

test('a verified short domain has its links at the root of the port, and the status page stays at other hosts', async () => {
  const { base_url: root, api_key: key, workspace_id: workspaceId, database_url: url } = product.dev
  const pg = patientPostgres(url, { max: 1 })
  const [domain] = await pg.query<{ id: number }>(
    `INSERT INTO short_domains (workspace_id, host, token, verified_at) VALUES ($1, 'go.example.com', 't', now()) RETURNING id`,
    [workspaceId],
  )
  await pg.close()
  const made = await fetch(`${root}/links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      label: 'a',
      destination_url: 'https://example.com/',
      domain: 'go.example.com',
      key: 'spring',
    }),
  })
  expect([domain!.id, made.status]).toEqual([expect.any(Number), 200])
  const port = Number(new URL(root).port)
  const ask = async (path: string, host: string) =>
    (await exchange(port, [`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`])).text
  await expect.poll(() => ask('/spring', 'go.example.com')).toMatch(/^HTTP\/1.1 302/)
  for (const path of ['/', '/dashboard', '/v1/links', '/mcp', '/demo/']) {
    expect([path, await ask(path, 'go.example.com')]).toEqual([path, expect.stringContaining('Link not found')])
  }
  expect(await ask('/', 'stats.example.com')).toContain('All is well')
})

test('refuses a second start on its folder, and one on its port, in a line each', async () => {
  const second = await refusedStart({ DATA_DIR: dataDir })
  const inUse = /DATA_DIR .* is in use by another process \(\d+ on \S+\), which serves http:\/\/localhost:\d+\/$/
  expect(second).toEqual({ code: 1, lines: [expect.stringMatching(inUse)] })
  const { port } = new URL(product.dev.base_url)
  const busy = await refusedStart({ DATA_DIR: emptyFolder, PORT: port })
  expect(busy.code).toBe(1)
  expect(busy.lines[0]).toContain(`port ${port} is in use`)
  expect(isFolderInUse(emptyFolder)).toBe(false)
})

test('obeys --help and refuses any other option, naming the way to set one', async () => {
  const start = (...words: string[]) =>
    promisify(execFile)(process.execPath, [projectFile('start/bootstrap.mjs'), ...words]).catch((error) => error)
  expect(await start('start', '--help')).toMatchObject({ stdout: expect.stringContaining('PORT=8081 npm start') })
  for (const words of [['--port=5'], ['--help', '--colour']]) {
    const { code, stderr, stdout } = await start('start', ...words)
    expect([words, code, stdout]).toEqual([words, 2, ''])
    expect(stderr).toMatch(/^npm start takes no .*PORT=8081 npm start.*docs\/settings\.md.*\n$/)
  }
})

test('names a setting that is wrong, in one line', async () => {
  expect(await refusedStart({ DATA_DIR: '/dev/null/data' })).toEqual({
    code: 1,
    lines: [expect.stringContaining('DATA_DIR')],
  })
  // The kernel's own folder, which nobody may change.
  expect(await refusedStart({ DATA_DIR: '/proc/self/task' })).toEqual({
    code: 1,
    lines: [
      expect.stringMatching(/^DATA_DIR .* EPERM.* must belong to the user who starts this, whose number is \d+$/),
    ],
  })
})

test('in production, a folder that began without SECRET_KEY is told where its key is', async () => {
  const lines = [`SECRET_KEY must be set in production: ${join(dataDir, 'secret.key')} has that of the data`]
  const env = { DATA_DIR: dataDir, NODE_ENV: 'production', SECRET_KEY: '' }
  expect(await refusedStart(env)).toEqual({ code: 1, lines })
})

test('a folder for everybody that has other files is refused, and keeps its mode', async () => {
  writeFileSync(join(othersFolder, 'letter.txt'), '')
  chmodSync(othersFolder, 0o1777)
  expect(await refusedStart({ DATA_DIR: othersFolder })).toEqual({
    code: 1,
    lines: [`DATA_DIR ${othersFolder} is for everybody and has other files: name a folder for this alone`],
  })
  expect([statSync(othersFolder).mode & 0o7777, readdirSync(othersFolder)]).toEqual([0o1777, ['letter.txt']])
})

test.each(['ingest', 'api'] as const)(
  'when %s is killed the other goes on answering, and it is started again',
  async (name) => {
    const before = product.dev.pids[name]
    const [mine, other] = name === 'ingest' ? [health, workspace] : [workspace, health]
    product.kill(name)
    expect(await other()).toBe(200)
    await expect.poll(() => mine().catch(() => 0)).toBe(200)
    expect([null, before]).not.toContain(product.dev.pids[name])
  },
)

test('leaves no process behind when the supervisor alone is killed, and starts again at once, with the same keys and data', async () => {
  const { api_key, tracking_key, workspace_id } = product.dev
  const pids = Object.values(product.dev.pids).filter((pid) => pid !== null)
  const supervisor = Number(readFileSync(join(dataDir, 'lock'), 'utf8').split(' ')[0])
  process.kill(supervisor, 'SIGKILL')
  product = await startProduct(dataDir)
  for (const pid of pids) expect(isAlive(pid)).toBe(false)
  expect(product.dev).toMatchObject({ api_key, tracking_key, workspace_id })
  expect(product.output).not.toContain(api_key)
  expect(await workspace()).toBe(200)
})

test('takes stores that end while it stops for what was asked for, and starts none again', async () => {
  const stopped = product.stop()
  await vi.waitUntil(() => product.output.includes('svc: stopping'), { timeout: 60_000 })
  // One that the stop has ended by then is no fault.
  for (const name of ['clickhouse', 'postgres', 'redis'] as const) product.kill(name)
  expect(await stopped).toBe(0)
  expect(product.output.split('svc: stopping')[1]).toBe('\nsvc: stopped\n')
})

test('starts on a copy of its folder in which all files are of root', async (context) => {
  if (process.getuid?.() !== 0) leaveOut(context, 'needs root: others can’t give files away')
  chownSync(join(dataDir, 'postgres'), 0, 0)
  for (const name of readdirSync(join(dataDir, 'postgres'), { recursive: true, encoding: 'utf8' }))
    chownSync(join(dataDir, 'postgres', name), 0, 0)
  product = await startProduct(dataDir)
  expect(await workspace()).toBe(200)
})

test('starts no store that is given by its URL; stops in order, ends every child and lets go of the folder; makes no second secret key for the same data', async () => {
  const stores = await freshStores()
  const { databaseUrl, redisUrl, clickhouseUrl } = stores
  const env = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, CLICKHOUSE_URL: clickhouseUrl }
  const given = await startProduct(stores.dataDir, { ...env, LISTEN_HOST: '127.0.0.2' })
  expect(given.dev).toMatchObject({ database_url: databaseUrl, redis_url: redisUrl, clickhouse_url: clickhouseUrl })
  // It listens there alone.
  expect(given.dev.base_url).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/v1$/)
  expect(given.dev.pids).toMatchObject({ postgres: null, redis: null, clickhouse: null, ingest: expect.any(Number) })
  expect(existsSync(join(stores.dataDir, 'postgres'))).toBe(false)
  const pids = Object.values(given.dev.pids).filter((pid) => pid !== null)
  expect(await given.stop()).toBe(0)
  for (const pid of pids) expect(isAlive(pid)).toBe(false)
  expect(isFolderInUse(stores.dataDir)).toBe(false)
  expect(Object.values(given.dev.pids)).toEqual([null, null, null, null, null, null])
  rmSync(join(stores.dataDir, 'secret.key'))
  const lines = [expect.stringMatching(/^svc: SECRET_KEY .*isn't the key that the data/), 'svc: stopped']
  const refused = await refusedStart({ ...env, DATA_DIR: stores.dataDir })
  expect([refused, existsSync(join(stores.dataDir, 'secret.key'))]).toEqual([{ code: 1, lines }, false])
  const [, hash = ''] = /LOST_SECRET_KEY=(\w+)$/.exec(refused.lines[0]!) ?? []
  const begun = await startProduct(stores.dataDir, {
    ...env,
    LOST_SECRET_KEY: hash,
    API_HOST: 'https://stats.example.com',
  })
  // Strangers would find the demo site there, and count as visitors.
  const read = (path: string) => fetch(new URL(path, begun.dev.base_url)).then((answer) => answer.text())
  expect(await read('/demo/')).toBe('{"detail":"Not Found"}')
  expect([await read('/'), begun.output].join()).not.toContain('/demo/')
  expect([await begun.stop(), existsSync(join(stores.dataDir, 'secret.key'))]).toEqual([0, true])
  await stores.close()
})
