/** The last lines of `npm test` on a folder of made-up tests. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'

let folder: string
beforeAll(() => {
  mkdirSync(projectFile('.cache'), { recursive: true })
  folder = mkdtempSync(projectFile('.cache/gate-'))
  writeFileSync(join(folder, 'vitest.config.ts'), "export default { test: { include: ['*.made.ts'] } }")
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), `import { beforeAll, expect, test } from 'vitest'\n${text}`)
}

/** @returns the exit code, and the lines that it printed */
async function runGate(
  env: Record<string, string> = {},
  command: 'test' | 'test:faults' = 'test',
): Promise<{ code: number | null; lines: string[] }> {
  const program = `
    const { runTests } = await import(${JSON.stringify(projectFile('start/test-run.mjs'))})
    process.exit(await runTests('${command}', ['--root', ${JSON.stringify(folder)}]))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env['PATH'], ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const [code] = await once(child, 'close')
  return { code, lines: output.trimEnd().split('\n') }
}

test('the last line counts what passed, failed and was skipped, and lines before it name failures and skips', async () => {
  write('a.made.ts', `test('works', () => {})\ntest('lacks a tool', ({ skip }) => skip('needs a hammer'))`)
  write('b.made.ts', `test('breaks', () => expect(1).toBe(2))`)
  write('c.made.ts', `beforeAll(() => { throw new Error('no') })\ntest('never runs', () => {})`)
  write('d.made.ts', `import './nowhere.ts'`)
  const { code, lines } = await runGate()
  expect(code).toBe(1)
  expect(lines.at(-1)).toBe('1 passed, 3 failed, 2 skipped')
  expect(lines).toEqual(
    expect.arrayContaining([
      'svc: SEED=1',
      'skipped: a.made.ts > lacks a tool: needs a hammer',
      'skipped: c.made.ts > never runs: its file failed',
      'failed: b.made.ts > breaks (again: SEED=1 npm test -- b.made.ts)',
      'failed: c.made.ts > loading or set-up (again: SEED=1 npm test -- c.made.ts)',
      'failed: d.made.ts > loading or set-up (again: SEED=1 npm test -- d.made.ts)',
      expect.stringMatching(/^ +\d+\.\d s {2}a\.made\.ts$/),
    ]),
  )
})

test('a run without failures ends with code 0, also where tests are skipped; a seed is taken from SEED', async () => {
  for (const name of ['b.made.ts', 'c.made.ts', 'd.made.ts']) rmSync(join(folder, name))
  const { code, lines } = await runGate({ SEED: '7' })
  expect([code, lines.at(-1)]).toEqual([0, '1 passed, 0 failed, 1 skipped'])
  expect(lines).toContain('svc: SEED=7')
})

test('a failure of the long form is repeated by its command, a run without tests by none', async () => {
  write('b.made.ts', `test('breaks', () => expect(1).toBe(2))`)
  const { lines } = await runGate({ SEED: '8' }, 'test:faults')
  expect(lines).toContain('failed: b.made.ts > breaks (again: SEED=8 npm run test:faults -- b.made.ts)')
  for (const name of ['a.made.ts', 'b.made.ts']) rmSync(join(folder, name))
  const empty = await runGate()
  expect(empty.lines.slice(-2)).toEqual(['failed: vitest ended with code 1', '0 passed, 1 failed, 0 skipped'])
})
