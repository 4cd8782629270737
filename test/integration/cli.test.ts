import { mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { findApiKey } from '../../postgres/tables/api-keys.ts'
import { findTrackingKey } from '../../postgres/tables/tracking-keys.ts'
import { lockFolder } from '../../runtime/folder-lock.mjs'
import { projectFile } from '../../runtime/paths.ts'
import { isWellFormedSecretKey, sha256Of } from '../../schemas/keys.ts'
import { scopes } from '../../schemas/scopes.ts'
import { runSvc } from '../support/command-line.ts'
import { setUpStores } from '../support/stores.ts'

const stores = setUpStores()
const folder = mkdtempSync(join(tmpdir(), 'svc-cli-'))
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})

const environment = () => ({ DATABASE_URL: stores.databaseUrl, CLICKHOUSE_URL: stores.clickhouseUrl, DATA_DIR: folder })

async function svc(line: string | string[], env: Record<string, string> = environment()) {
  const said = await runSvc(Array.isArray(line) ? line : line.split(' '), env)
  return { ...said, json: () => JSON.parse(said.out) }
}

const refusal = (named: string) => ({ code: 2, out: '', err: expect.stringContaining(named) })

describe('every command', () => {
  test('has a help that names its options; an unknown one, a missing value and a stray word are refused and named', async () => {
    for (const { name, options, argument } of commands) {
      const help = await svc(`${name} --help`, {})
      expect([name, help.code, help.err]).toEqual([name, 0, ''])
      for (const option of [...Object.keys(options), 'json']) expect(help.out).toContain(`--${option}`)
      for (const [words, named] of [
        [' --colour', '--colour'],
        [`${argument ? ' 1' : ''} stray`, 'stray'],
      ] as const) {
        const { code, out, err } = await svc(`${name}${words}`)
        // Where an option is required, it may be named before the stray word.
        expect([name, code, out]).toEqual([name, 2, ''])
        expect(err).toMatch(new RegExp(`${named}|is required`))
      }
    }
    expect((await svc('keys create --name')).err).toContain('--name')
  })

  test('that is mistyped is refused with what was probably meant; so is an option', async () => {
    for (const [line, meant] of [
      ['kyes create', 'keys create'],
      ['keys crate', 'keys create'],
      ['docter', 'doctor'],
      ['workspaces', 'workspace'],
      ['keys list --workspcae 1', '--workspace'],
      ['--verison', '--version'],
    ]) {
      const { code, out, err } = await svc(line!, {})
      expect([line, code, out]).toEqual([line, 2, ''])
      expect(err).toContain(`did you mean \`${meant}\`?`)
    }
    const { code, err } = await svc('frobnicate', {})
    expect([code, err]).toEqual([2, expect.stringContaining('there is no command `frobnicate`\n')])
  })

  test('stands in the list that is shown without a command, with its verbs in that of its noun', async () => {
    expect(await svc('--help', {})).toMatchObject({ code: 0, err: '', out: expect.stringContaining('keys create') })
    expect(await svc([], {})).toMatchObject({ code: 2, out: '', err: expect.stringContaining('keys create') })
    const { code, out } = await svc('keys --help', {})
    expect([code, out]).toEqual([0, expect.stringMatching(/^svc keys VERB \[options\]\n/)])
    for (const verb of ['create', 'list', 'revoke']) expect(out).toContain(`keys ${verb} `)
    expect(out).not.toContain('workspace list')
  })

  test('says its version', async () => {
    const { version } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8'))
    expect(await svc('--version', {})).toMatchObject({ code: 0, out: `svc ${version}\n`, err: '' })
  })

  test('says in one line when a store does not answer, and names a setting that is wrong', async () => {
    const { code, err } = await svc('workspace list', { DATABASE_URL: 'postgres://svc:secret@127.0.0.1:1/svc' })
    expect([code, err]).toEqual([1, expect.stringMatching(/^[^\n]*postgres[^\n]*\n$/)])
    expect(err).not.toContain('secret')
    const wrong = await svc('workspace list', { DATABASE_URL: 'mysql://x' })
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('DATABASE_URL')])
  })
})

test('finds the stores of a running data folder', async () => {
  const running = join(folder, 'running')
  mkdirSync(running)
  writeFileSync(join(running, 'dev.json'), JSON.stringify({ database_url: stores.databaseUrl }))
  expect(await svc('workspace list --json', { DATA_DIR: running })).toMatchObject({ code: 0 })
})

test('says that nothing runs in a data folder that is none, or whose product has stopped, and blames no store', async () => {
  const none = await svc('workspace list', { DATA_DIR: join(folder, 'nothing') })
  expect([none.code, none.out]).toEqual([1, ''])
  expect(none.err).toMatch(/^svc workspace list: DATABASE_URL isn't set and nothing runs in .*nothing.*\n$/)
  const stopped = join(folder, 'stopped')
  mkdirSync(stopped)
  const dev = { database_url: 'postgres://svc:secret@127.0.0.1:1/svc', pids: { ingest: 1, postgres: process.pid } }
  writeFileSync(join(stopped, 'dev.json'), JSON.stringify(dev))
  const nothingRuns = expect.stringMatching(/^svc workspace list: DATABASE_URL isn't set and nothing runs in .*stopped/)
  expect(await svc('workspace list', { DATA_DIR: stopped })).toMatchObject({ code: 1, out: '', err: nothingRuns })
  // A start that was killed leaves its lock behind.
  writeFileSync(join(stopped, 'lock'), `${process.pid} 1`)
  expect(await svc('workspace list', { DATA_DIR: stopped })).toMatchObject({ code: 1, out: '', err: nothingRuns })
  unlinkSync(join(stopped, 'lock'))
  const { release } = lockFolder(stopped)
  expect(await svc('workspace list', { DATA_DIR: stopped })).toMatchObject({
    code: 1,
    err: expect.stringContaining("a store doesn't answer: postgres"),
  })
  release()
})

describe('workspaces', () => {
  test('one is made with an owner, a plan, and two keys that work', async () => {
    const made = await svc(['workspace', 'create', '--name', 'Café Übersee', '--timezone', 'Europe/Berlin', '--json'])
    expect(made).toMatchObject({ code: 0, err: '' })
    const { workspace_id, slug, tracking_key, api_key } = made.json()
    expect(slug).toBe('cafe-ubersee')
    const found = await findApiKey(stores.pg, sha256Of(api_key), new Date())
    expect(found).toMatchObject({
      workspaceId: workspace_id,
      plan_key: 'growth',
      isMember: true,
      scopes: [...scopes],
      workspace: { name: 'Café Übersee', timezone: 'Europe/Berlin', retention_days: null, suspended_at: null },
    })
    expect(await findTrackingKey(stores.pg, tracking_key)).toMatchObject({ workspace_id, timezone: 'Europe/Berlin' })
  })

  test('a slug that is taken gets a number, or is refused when it was asked for', async () => {
    const make = (...more: string[]) => svc(['workspace', 'create', '--name', 'Twice', '--json', ...more])
    expect((await make()).json().slug).toBe('twice')
    expect((await make()).json().slug).toBe('twice-2')
    expect(await make('--slug', 'twice')).toMatchObject(refusal('--slug'))
    expect((await make('--slug', 'thrice')).json().slug).toBe('thrice')
  })

  test('bad input is refused with exit code 2, naming the option, and makes nothing', async () => {
    const count = async () => (await svc('workspace list --json')).json().length
    const before = await count()
    for (const [option, value] of [
      ['--name', ''],
      ['--name', 'x'.repeat(121)],
      ['--name', 'a\0b'],
      ['--slug', 'Upper'],
      ['--slug', '-a'],
      ['--timezone', 'Mars/Olympus'],
      ['--timezone', '+01:00'],
      ['--plan', 'gold'],
    ] as const) {
      const words = ['workspace', 'create', ...(option === '--name' ? [] : ['--name', 'x']), `${option}=${value}`]
      expect(await svc(words), words.join(' ')).toMatchObject(refusal(option))
    }
    expect(await svc('workspace create')).toMatchObject(refusal('--name is required'))
    expect(await count()).toBe(before)
  })

  test('a plan is set and ended; a lower one starts the grace, a higher one does not', async () => {
    const { workspace_id: id, api_key } = (await svc('workspace create --name P --plan none --json')).json()
    const changedAt = async () =>
      (await findApiKey(stores.pg, sha256Of(api_key), new Date()))!.workspace.plan_changed_at.getTime()
    const set = (plan: string) => svc(`plan set --workspace ${id} --plan ${plan} --json`)
    const first = await changedAt()
    expect((await set('scale')).json()).toEqual({ workspace_id: id, plan_key: 'scale', workspace_ids: [id] })
    expect(await changedAt()).toBe(first)
    await set('starter')
    const lowered = await changedAt()
    expect(lowered).toBeGreaterThan(first)
    await set('starter')
    expect(await changedAt()).toBe(lowered)
    expect((await set('none')).json()).toEqual({ workspace_id: id, plan_key: null, workspace_ids: [id] })
    expect(await changedAt()).toBeGreaterThan(lowered)
    expect(await findApiKey(stores.pg, sha256Of(api_key), new Date())).toMatchObject({ plan_key: null })
    expect(await set('gold')).toMatchObject(refusal('--plan'))
    expect(await svc('plan set --workspace 9999 --plan none')).toMatchObject({
      code: 1,
      err: expect.stringContaining('9999'),
    })
  })
})

describe('keys', () => {
  test('one is made with its scopes and expiry, shown once, and found by its hash alone', async () => {
    const made = await svc([
      ...['keys', 'create', '--name', 'reader', '--scopes', 'posts:read,analytics:read', '--json'],
      ...['--expires', '2035-01-01T00:00:00+01:00'],
    ])
    const { id, api_key, prefix, scopes: granted } = made.json()
    expect(isWellFormedSecretKey(api_key)).toBe(true)
    expect(granted).toEqual(['posts:read', 'analytics:read'])
    expect(await findApiKey(stores.pg, sha256Of(api_key), new Date())).toMatchObject({
      id,
      name: 'reader',
      scopes: granted,
      expiresAt: new Date('2034-12-31T23:00:00Z'),
    })
    const stored = JSON.stringify(await stores.pg.query('SELECT * FROM api_keys'))
    expect(stored).not.toContain(api_key)
    const listed = await svc('keys list --json')
    expect(listed.json()[0]).toMatchObject({ id, name: 'reader', prefix, scopes: granted, revoked_at: null })
    expect(listed.out).not.toContain(api_key)
  })

  test('one with all scopes, by one word, is revoked by its id, and once more is no error', async () => {
    const { id, api_key, scopes: granted } = (await svc('keys create --name r --scopes all --json')).json()
    expect(granted).toEqual([...scopes])
    const first = (await svc(`keys revoke ${id} --json`)).json()
    expect(first).toEqual({ id, revoked_at: expect.any(String) })
    expect((await svc(`keys revoke ${id} --json`)).json()).toEqual(first)
    const listed: { id: number; revoked_at: string | null }[] = (await svc('keys list --json')).json()
    expect(listed.find((key) => key.id === id)).toMatchObject(first)
    expect(await findApiKey(stores.pg, sha256Of(api_key), new Date())).toBeNull()
    expect(await svc('keys revoke 99999')).toMatchObject({ code: 1, err: expect.stringContaining('99999') })
    for (const bad of ['x', '0', '1.5', '99999999999']) {
      expect(await svc(['keys', 'revoke', bad])).toMatchObject(refusal('ID'))
    }
    expect(await svc('keys revoke')).toMatchObject(refusal('ID is required'))
  })

  test('bad input is refused with exit code 2, naming the option', async () => {
    for (const [option, value] of [
      ['--scopes', 'posts:read,posts:erase'],
      ['--scopes', ''],
      ['--scopes', 'toString'],
      ['--expires', 'tomorrow'],
      ['--expires', '2035-01-01T00:00:00'],
      ['--expires', '2020-01-01T00:00:00Z'],
      ['--workspace', 'one'],
      ['--workspace', '0'],
    ] as const) {
      const scopesGiven = option === '--scopes' ? [] : ['--scopes', 'all']
      const words = ['keys', 'create', '--name', 'x', ...scopesGiven, `${option}=${value}`]
      expect(await svc(words), words.join(' ')).toMatchObject(refusal(option))
    }
    expect(await svc('keys create --name x --scopes all --workspace 9999')).toMatchObject({ code: 1 })
  })
})

test('migrating again changes nothing', async () => {
  const { code, json } = await svc('migrate --json')
  expect([code, json()]).toEqual([0, { postgres: [], clickhouse: [] }])
})
