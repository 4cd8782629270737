import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../cli/commands.ts'
import { findApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { listAuditEvents } from '../../postgres/tables/workspaces/audit.ts'
import { findTrackingKey } from '../../postgres/tables/workspaces/tracking-keys.ts'
import {
  createWorkspace,
  listWorkspacesOf,
  lockOwner,
  readWorkspace,
} from '../../postgres/tables/workspaces/workspaces.ts'
import { lockFolder } from '../../runtime/folder-lock.mjs'
import { projectFile } from '../../runtime/paths.ts'
import { isWellFormedSecretKey, sha256Of } from '../../schemas/keys.ts'
import { trackingKeyGraceDays } from '../../schemas/limits/api-limits.ts'
import { publishScope, scopes, viewScope } from '../../schemas/scopes.ts'
import { dayMs } from '../../schemas/time/time-zone.ts'
import { makeKey, makeWorkspace } from '../support/api.ts'
import { runSvc, storeSettings } from '../support/command-line.ts'
import { listening } from '../support/listening.ts'
import { compiledService } from '../support/service-process.ts'
import { setUpStores } from '../support/stores.ts'
import { setUpFolder } from '../support/test-folder.ts'

const stores = setUpStores()
const folder = setUpFolder()

const environment = (): Record<string, string> => ({ ...storeSettings(stores), DATA_DIR: folder })

async function svc(line: string | string[], env: Record<string, string> = environment()) {
  const said = await runSvc(Array.isArray(line) ? line : line.split(' '), env)
  return { ...said, json: () => JSON.parse(said.out) }
}

const refusal = (named: string) => ({ code: 2, out: '', err: expect.stringContaining(named) })

/** Each bad value of an option is refused by its name, beside good ones of the others. */
async function expectRefused(wrong: readonly [string, string[]][], command: string, ...good: string[]): Promise<void> {
  for (const [option, values] of wrong) {
    for (const value of values) {
      const others = good.filter((word) => !word.startsWith(option))
      const words = [...command.split(' '), ...others, `${option}=${value}`]
      expect(await svc(words), words.join(' ')).toMatchObject(refusal(option))
    }
  }
}

/** A workspace of its own for a test, what is asked of it, and the audit rows of that. */
async function makeMine() {
  const mine = await makeWorkspace(stores)
  const { workspaceId } = mine
  return {
    mine,
    ofMine: (...words: string[]) => svc([...words, '--workspace', String(workspaceId), '--json']),
    actions: async () =>
      (await listAuditEvents(stores.pg, workspaceId, { limit: 100 })).map(({ action }) => action).reverse(),
  }
}

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
        expect([name, code, out]).toEqual([name, 2, ''])
        expect(err).toContain(named)
      }
    }
    expect((await svc('keys create --name')).err).toContain('--name needs its NAME')
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

  test('is found behind and between flags', async () => {
    const listed = await svc('workspace list --json')
    for (const line of ['--json workspace list', 'workspace --json list'])
      expect((await svc(line)).out).toBe(listed.out)
    expect(await svc('--help workspace list', {})).toMatchObject({
      code: 0,
      out: expect.stringContaining('svc workspace list'),
    })
  })

  test('shows its help by other words for it, too', async () => {
    for (const [line, plain] of [
      ['keys create -h', 'keys create --help'],
      ['help keys create', 'keys create --help'],
      ['help', '--help'],
    ]) {
      const { code, out } = await svc(plain!, {})
      expect(await svc(line!, {})).toMatchObject({ code, out })
    }
  })

  test.each([
    [`replay ${folder}`, `${folder} is a folder`],
    [`events export --out ${folder}/none/a.ndjson`, `there is no folder ${folder}/none`],
    ['bots update --list googlebot --from https://127.0.0.1:1/', 'The connection was refused'],
  ])('says in words what is wrong with a place: svc %s', async (line, said) => {
    await makeWorkspace(stores)
    const { code, out, err } = await svc(line)
    expect([code === 0, `${out}${err}`]).toEqual([false, expect.stringContaining(said)])
  })

  test('stands in the list that is shown without a command, with its verbs in that of its noun', async () => {
    expect(await svc('--help', {})).toMatchObject({ code: 0, err: '', out: expect.stringContaining('keys create') })
    expect(await svc([], {})).toMatchObject({ code: 2, out: '', err: expect.stringContaining('keys create') })
    const { code, out } = await svc('keys --help', {})
    expect([code, out]).toEqual([0, expect.stringMatching(/^svc keys VERB \[options\]\n/)])
    for (const verb of ['create', 'list', 'revoke']) expect(out).toContain(`keys ${verb} `)
    expect(out).not.toContain('workspace list')
  })

  test.each(['--version', 'workspace list', 'no such command'])(
    'ends without a word when nobody reads it: svc %s',
    async (line) => {
      const env = environment()
      const child = spawn(process.execPath, [await compiledService('cli/svc.ts'), ...line.split(' ')], { env })
      const isFault = line === 'no such command'
      child[isFault ? 'stderr' : 'stdout'].destroy()
      let err = ''
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      expect([await once(child, 'exit'), err]).toEqual([[isFault ? 2 : 141, null], ''])
    },
  )

  test('takes a password from a pipe whose writer takes a moment, and goes on without end', async () => {
    const { workspaceId } = await makeWorkspace(stores)
    const words = ['owner', 'password', '--workspace', String(workspaceId)]
    const env = environment()
    const child = spawn(process.execPath, [await compiledService('cli/svc.ts'), ...words], { env })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    child.stdin.on('error', () => {})
    setTimeout(() => child.stdin.write('long enough '.repeat(1_000)), 3_000)
    const [code] = await once(child, 'close')
    expect([code, said]).toEqual([1, expect.stringContaining('a password must have 10 to 200 characters')])
  })

  test('that waits for a store that hangs says how to end it, when it is interrupted', async () => {
    const hanging = createServer()
    const { port } = await listening(hanging)
    const env = { ...environment(), DATABASE_URL: `postgres://svc:secret@127.0.0.1:${port}/svc` }
    const child = spawn(process.execPath, [await compiledService('cli/svc.ts'), 'keys', 'list'], { env })
    await once(hanging, 'connection')
    child.kill('SIGINT')
    expect(String(await once(child.stderr, 'data'))).toContain('Ctrl-C again')
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([null, 'SIGINT'])
    hanging.close()
  })

  test('says its version', async () => {
    const { version } = JSON.parse(readFileSync(projectFile('package.json'), 'utf8'))
    expect(await svc('--version', {})).toMatchObject({ code: 0, out: `svc ${version}\n`, err: '' })
  })

  test('says in one line when a store is unavailable, and names a setting that is wrong', async () => {
    const { code, err } = await svc('workspace list', { DATABASE_URL: 'postgres://svc:secret@127.0.0.1:1/svc' })
    expect([code, err]).toEqual([1, expect.stringMatching(/^[^\n]*postgres[^\n]*\n$/)])
    expect(err).not.toContain('secret')
    const wrong = await svc('workspace list', { DATABASE_URL: 'mysql://x' })
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('DATABASE_URL')])
  })
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
  // A start that was killed leaves the file of its lock behind.
  writeFileSync(join(stopped, 'lock'), `${process.pid} on here`)
  expect(await svc('workspace list', { DATA_DIR: stopped })).toMatchObject({ code: 1, out: '', err: nothingRuns })
  const { release } = lockFolder(stopped)
  expect(await svc('workspace list', { DATA_DIR: stopped })).toMatchObject({
    code: 1,
    err: expect.stringContaining('a store is unavailable: postgres'),
  })
  release()
})

describe('workspaces', () => {
  test('one is made with an owner, a plan, and two keys that work', async () => {
    const made = await svc(['workspace', 'create', '--name', 'Café Übersee', '--timezone', 'Europe/Berlin', '--json'])
    expect(made).toMatchObject({ code: 0, err: '' })
    const { workspace_id, slug, tracking_key, api_key } = made.json()
    expect(slug).toBe('cafe-ubersee')
    expect(await findApiKey(stores.pg, sha256Of(api_key), new Date())).toMatchObject({
      plan_key: 'growth',
      isMember: true,
      scopes: [...scopes, publishScope],
      workspace: {
        id: workspace_id,
        name: 'Café Übersee',
        timezone: 'Europe/Berlin',
        retention_days: null,
        suspended_at: null,
      },
    })
    expect(await findTrackingKey(stores.pg, tracking_key)).toMatchObject({ workspace_id, timezone: 'Europe/Berlin' })
  })

  test('names are shown without what moves a cursor or turns the direction of writing', async () => {
    const { workspaceId } = await makeWorkspace(stores)
    const name = 'a\u001b[2J\u009bb\u202ec\nd\u2066'
    await stores.pg.query('UPDATE workspaces SET name = $2 WHERE id = $1', [workspaceId, name])
    expect((await svc('workspace list')).out).toContain('a\\u001b[2J\\u009bb\\u202ec\\u000ad\\u2066 ')
    const listed = await svc('workspace list --json')
    expect(listed.out).not.toMatch(/[\p{Cc}\u202e\u2066](?!$)/u)
    expect(listed.json().find(({ id }: { id: number }) => id === workspaceId).name).toBe(name)
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
    const wrong: [string, string[]][] = [
      ['--name', ['', 'x'.repeat(121), 'a\0b']],
      ['--slug', ['Upper', '-a']],
      ['--timezone', ['Mars/Olympus', '+01:00']],
      ['--plan', ['gold']],
    ]
    await expectRefused(wrong, 'workspace create', '--name=x')
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
    const unknown = { code: 1, err: expect.stringContaining('9999') }
    expect(await svc('plan set --workspace 9999 --plan none')).toMatchObject(unknown)
  })

  test('set changes what is named, and nothing else', async () => {
    const { ofMine, mine, actions } = await makeMine()
    const words = ['--retention-days', '7', '--timezone', 'Europe/Berlin', '--currency', 'eur']
    const set = await ofMine('workspace', 'set', ...words)
    const changed = { retention_days: 7, timezone: 'Europe/Berlin', currency: 'EUR' }
    expect([set.code, set.json()]).toEqual([0, expect.objectContaining({ workspace_id: mine.workspaceId, ...changed })])
    // The plan keeps 180.
    for (const [days, kept] of [
      ['181', 'as long as the plan says, which is less than 181 days'],
      ['180', 'for 180 days'],
    ] as const)
      expect((await svc(`workspace set --workspace ${mine.workspaceId} --retention-days ${days}`)).out).toContain(
        `kept ${kept},`,
      )
    await ofMine('workspace', 'set', '--retention-days', 'plan')
    const now = { ...changed, retention_days: null }
    expect(await readWorkspace(stores.pg, mine.workspaceId)).toMatchObject(now)
    expect(await actions()).toEqual(Array(4).fill('workspace.update'))
    for (const [given, why] of [
      [['--retention-days', '0'], '--retention-days must be a whole number from 1 to 730, or plan'],
      [['--retention-days', '731'], '--retention-days'],
      [['--timezone', 'Mars/Olympus'], '--timezone must be an IANA name'],
      [['--currency', 'XYZZY'], '--currency must be an ISO 4217 code'],
      [[], 'nothing to set'],
    ] as const) {
      expect(await ofMine('workspace', 'set', ...given), why).toMatchObject(refusal(why))
    }
    expect(await actions()).toHaveLength(4)
  })

  test('a plan is its owner’s: each workspace that lives by it has a row', async () => {
    const { ofMine, mine } = await makeMine()
    const [owner] = await stores.pg.query<{ email: string }>('SELECT email FROM owners WHERE id = $1', [mine.ownerId])
    const other = await stores.pg.transaction((tx) =>
      createWorkspace(tx, { name: 'Another', timezone: 'UTC', plan: 'growth', ownerEmail: owner!.email }),
    )
    const set = await ofMine('plan', 'set', '--plan', 'starter')
    expect([set.code, set.json().workspace_ids]).toEqual([0, [mine.workspaceId, other.workspaceId]])
    for (const id of [mine.workspaceId, other.workspaceId]) {
      expect(await readWorkspace(stores.pg, id)).toMatchObject({ plan_key: 'starter' })
      const rows = await listAuditEvents(stores.pg, id, { limit: 10 })
      expect(rows).toEqual([expect.objectContaining({ action: 'plan.set', metadata: { plan_key: 'starter' } })])
    }
  })

  test('one that is made for another one’s owner shares the plan and the sign-in', async () => {
    const { mine } = await makeMine()
    const words = ['workspace', 'create', '--name', 'Second', '--owner-of', String(mine.workspaceId), '--json']
    expect(await svc([...words, '--plan', 'scale'])).toMatchObject(refusal('excludes'))
    const made = (await svc(words)).json()
    const owners = [mine.workspaceId, made.workspace_id].map((id: number) => lockOwner(stores.pg, id))
    const [first, second] = await Promise.all(owners)
    expect(second).toEqual(first)
    const shared = await listWorkspacesOf(stores.pg, mine.ownerId)
    expect(shared.map(({ name }) => name)).toContain('Second')
  })
})

test('a rotated tracking key goes on for its days, and keeps them when it is rotated again', async () => {
  const { ofMine, mine, actions } = await makeMine()
  const first = (await ofMine('tracking-key', 'rotate')).json()
  const before = await findTrackingKey(stores.pg, mine.trackingKey)
  const graceMs = before!.retires_at!.getTime() - Date.now()
  expect(Math.abs(graceMs - trackingKeyGraceDays * dayMs)).toBeLessThan(60_000)
  expect(await findTrackingKey(stores.pg, first.tracking_key)).toMatchObject({ retires_at: null })
  await ofMine('tracking-key', 'rotate')
  expect((await findTrackingKey(stores.pg, mine.trackingKey))!.retires_at).toEqual(before!.retires_at)
  expect(await actions()).toEqual(['tracking_key.rotate', 'tracking_key.rotate'])
})

describe('keys', () => {
  test('one is made with its scopes and expiry, shown once, and found by its hash alone', async () => {
    const what = '--name reader --scopes posts:read,analytics:read --expires 2035-01-01T00:00:00+01:00'
    const made = await svc(`keys create ${what} --json`)
    const { id, api_key, prefix, scopes: granted } = made.json()
    expect(isWellFormedSecretKey(api_key)).toBe(true)
    expect(granted).toEqual(['posts:read', 'analytics:read'])
    const expiresAt = new Date('2034-12-31T23:00:00Z')
    const found = await findApiKey(stores.pg, sha256Of(api_key), new Date())
    expect(found).toMatchObject({ id, name: 'reader', scopes: granted, expiresAt })
    const stored = JSON.stringify(await stores.pg.query('SELECT * FROM api_keys'))
    expect(stored).not.toContain(api_key)
    const listed = await svc('keys list --json')
    expect(listed.json()[0]).toMatchObject({ id, name: 'reader', prefix, scopes: granted, revoked_at: null })
    expect(listed.out).not.toContain(api_key)
  })

  test('one with all scopes, by one word, is revoked by its id, once more is no error, and each change has a row', async () => {
    const { ofMine, mine } = await makeMine()
    const { id, api_key, scopes: granted } = (await ofMine('keys', 'create', '--name', 'r', '--scopes', 'all')).json()
    expect(granted).toEqual([...scopes])
    const first = (await svc(`keys revoke ${id} --json`)).json()
    expect(first).toEqual({ id, kind: 'api_key', revoked_at: expect.any(String) })
    expect((await svc(`keys revoke ${id} --json`)).json()).toEqual(first)
    const listed: { id: number }[] = (await ofMine('keys', 'list')).json()
    expect(listed.find((key) => key.id === id)).toMatchObject(first)
    const rows = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 10 })
    const bySystem = { interface: 'cli', actor_type: 'system', actor_name: 'svc' }
    const made = { action: 'api_key.create', resource_type: 'api_key', resource_id: id, ...bySystem }
    expect(rows.map(({ action }) => action)).toEqual(['api_key.revoke', 'api_key.create'])
    expect(rows[1]).toMatchObject({ ...made, metadata: { name: 'r', scopes: [...scopes] } })
    expect(JSON.stringify(rows)).not.toContain(api_key)
    expect(await findApiKey(stores.pg, sha256Of(api_key), new Date())).toBeNull()
    expect(await svc('keys revoke 99999')).toMatchObject({ code: 1, err: expect.stringContaining('99999') })
    for (const bad of ['x', '0', '1.5', '99999999999999999']) {
      expect(await svc(['keys', 'revoke', bad])).toMatchObject(refusal('ID'))
    }
    expect(await svc('keys revoke')).toMatchObject(refusal('ID is required'))
  })

  test('a shared link is listed as one and revoked by its id; no key is given its scope', async () => {
    const { ofMine, mine } = await makeMine()
    const { id, prefix } = await makeKey(stores, mine.workspaceId, { scopes: [viewScope] })
    expect((await ofMine('keys', 'list')).json()[0]).toMatchObject({ id, kind: 'shared_link', prefix })
    expect((await svc(`keys list --workspace ${mine.workspaceId}`)).out).toMatch(
      /shared link +test +svc_view_\w{6} +live/,
    )
    expect((await svc(`keys revoke ${id}`)).out).toMatch(`shared link ${id} revoked at`)
    const [audited] = await listAuditEvents(stores.pg, mine.workspaceId, { limit: 1 })
    expect(audited).toMatchObject({ action: 'shared_link.revoke', resource_type: 'shared_link', resource_id: id })
  })

  test('bad input is refused with exit code 2, naming the option', async () => {
    const wrong: [string, string[]][] = [
      ['--scopes', [viewScope, 'posts:read,posts:erase', '', 'toString']],
      ['--expires', ['tomorrow', '2035-01-01T00:00:00', '2020-01-01T00:00:00Z']],
      ['--workspace', ['one', '0']],
    ]
    await expectRefused(wrong, 'keys create', '--name=x', '--scopes=all')
    expect(await svc('keys create --name x --scopes all --workspace 9999')).toMatchObject({ code: 1 })
  })
})

test('migrating again changes nothing', async () => {
  const { code, json } = await svc('migrate --json')
  expect([code, json()]).toEqual([0, { postgres: [], clickhouse: [] }])
})
