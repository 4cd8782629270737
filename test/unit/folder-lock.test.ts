import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderInUse, isFolderInUse, lockFolder } from '../../runtime/folder-lock.mjs'
import { projectFile } from '../../runtime/paths.ts'

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-lock-'))
  lock = join(folder, 'lock')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a lock is held from processes that see no process of that number, as other containers do, and ends with a kill', async () => {
  expect(isFolderInUse(folder)).toBe(false)
  expect(existsSync(lock)).toBe(false)
  const module = JSON.stringify(projectFile('runtime/folder-lock.mjs'))
  const script = `import { lockFolder } from ${module}; lockFolder(process.argv[1]); console.log('held'); setInterval(() => {}, 1_000)`
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script, folder])
  await once(holder.stdout, 'data')
  expect(() => lockFolder(folder)).toThrow(`${folder} is in use by another process (${holder.pid} on ${hostname()})`)
  writeFileSync(lock, '999999999 on another\n')
  expect(isFolderInUse(folder)).toBe(true)
  expect(() => lockFolder(folder)).toThrow(
    new FolderInUse(`${folder} is in use by another process (999999999 on another)`),
  )
  // As on a full disk.
  writeFileSync(lock, '')
  expect(() => lockFolder(folder)).toThrow(new FolderInUse(`${folder} is in use by another process`))
  holder.kill('SIGKILL')
  await once(holder, 'close')
  expect(isFolderInUse(folder)).toBe(false)
  const { release } = lockFolder(folder)
  expect(isFolderInUse(folder)).toBe(true)
  release()
  expect(isFolderInUse(folder)).toBe(false)
})

test('a folder that nothing can lock is an error of its own', () => {
  const { PATH } = process.env
  process.env['PATH'] = folder
  try {
    expect(() => lockFolder(folder)).toThrow(
      "the folder can't be locked by `flock` of util-linux: there is no such command here",
    )
  } finally {
    process.env['PATH'] = PATH
  }
})

test('a build without `flock` ends with a line that names it', () => {
  const { status, stderr } = tryBuild({ PATH: folder })
  expect([status, stderr]).toEqual([
    1,
    "svc: the folder can't be locked by `flock` of util-linux: there is no such command here. Linux systems come with it, macOS does not\n",
  ])
})

test('a build in a folder that can’t be written ends with a line that says how to make it', () => {
  writeFileSync(join(folder, '.cache'), '')
  const { status, stdout, stderr } = tryBuild(process.env)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^svc: a build is needed, and can't begin \(E.*\): `npm run build` makes it.*\n$/)
})

function tryBuild(env: NodeJS.ProcessEnv) {
  for (const file of ['start/lock.mjs', 'start/root.mjs', 'runtime/folder-lock.mjs']) {
    cpSync(projectFile(file), join(folder, file))
  }
  const script = `import { underLock } from './start/lock.mjs'; underLock(() => console.log('built'))`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder, encoding: 'utf8', env })
}
