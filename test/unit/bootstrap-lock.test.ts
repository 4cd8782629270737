import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
    const { takeLock } = await import(${JSON.stringify(projectFile('start/lock.mjs'))})
    const [lock, inside] = process.argv.slice(1)
    for (let n = 0; n < 20; n++) {
      while (!takeLock(lock)) await new Promise((go) => setTimeout(go, process.pid % 4))
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
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, lock, join(folder, 'inside')])
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
  ['of a process that is gone', '999999999', true],
  ['that is empty', '', true],
  ['of a process that runs', String(process.pid), false],
])('a lock %s is taken, or not', async (_, content, isTaken) => {
  writeFileSync(lock, content)
  const { takeLock } = (await import(projectFile('start/lock.mjs'))) as { takeLock(lock: string): boolean }
  expect(takeLock(lock) || takeLock(lock)).toBe(isTaken)
  expect(existsSync(lock) && readFileSync(lock, 'utf8')).toBe(String(process.pid))
})
