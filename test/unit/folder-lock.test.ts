import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FolderInUse, isFolderInUse, lockFolder, processIdentity } from '../../runtime/folder-lock.mjs'
import { projectFile } from '../../runtime/paths.ts'

let folder: string
let lock: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-lock-'))
  lock = join(folder, 'lock')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Processes that take the lock at once, each twenty times, and say where two of them had it. */
async function contend(processes: number): Promise<string[]> {
  const script = `
    import { existsSync, rmSync, writeFileSync } from 'node:fs'
    const { FolderInUse, lockFolder } = await import(${JSON.stringify(projectFile('runtime/folder-lock.mjs'))})
    const [folder, inside] = process.argv.slice(1)
    const lock = folder + '/lock'
    function take() {
      try {
        return lockFolder(folder)
      } catch (error) {
        if (!(error instanceof FolderInUse)) throw error
      }
    }
    for (let n = 0; n < 20; n++) {
      while (!take()) await new Promise((go) => setTimeout(go, process.pid % 4))
      try {
        writeFileSync(inside, '', { flag: 'wx' })
      } catch {
        console.log('two at once')
      }
      await new Promise((go) => setTimeout(go, 1))
      rmSync(inside, { force: true })
      // Every other one is left behind, as by a kill: its text names nobody who runs.
      if (n % 2) writeFileSync(lock, '')
      else rmSync(lock, { force: true })
    }`
  const outputs = Array.from({ length: processes }, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder, join(folder, 'inside')])
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
    await once(child, 'close')
    return output
  })
  return Promise.all(outputs)
}

test('of many that want the lock, also one that was left behind, one at a time has it', async () => {
  writeFileSync(lock, '999999999')
  expect(await contend(6)).toEqual(['', '', '', '', '', ''])
  expect(readdirSync(folder).filter((name) => name !== 'lock')).toEqual([])
})

test.each([
  ['of a process that is gone', '999999999 1', true],
  ['that is empty', '', true],
  ['of an earlier process of the same number', `${process.pid} 1`, true],
  ['of a process that runs', processIdentity(process.pid)!, false],
])('a lock %s is taken, or not', (_, content, isTaken) => {
  writeFileSync(lock, content)
  expect(isFolderInUse(folder)).toBe(!isTaken)
  if (!isTaken) expect(() => lockFolder(folder)).toThrow(FolderInUse)
  else lockFolder(folder)
  expect(readFileSync(lock, 'utf8')).toBe(processIdentity(process.pid))
})

test('a lock that is released can be taken again', () => {
  lockFolder(folder).release()
  expect(isFolderInUse(folder)).toBe(false)
  lockFolder(folder).release()
  expect(existsSync(lock)).toBe(false)
})
