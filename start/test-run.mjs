/** `npm test`: types, lint, the build, and the tests; the last line counts them. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './root.mjs'

const node = process.execPath
/** Those that have a long form. */
const longTests = [
  'test/browser/careful-pages.test.ts',
  'test/browser/consent.test.ts',
  'test/crash',
  'test/property/aggregates.test.ts',
  'test/property/api-fuzz.test.ts',
  'test/integration/aggregate-generations.test.ts',
  'test/integration/bearer-timing.test.ts',
  'test/integration/ingest-workers.test.ts',
  'test/integration/media-memory.test.ts',
]

/**
 * `args` go to vitest (`npm test -- test/unit`), and then only the tests run. `isLong`: the fault tests in their long form.
 * @returns the exit code
 */
export async function runTests(args, isLong) {
  let passed = 0
  let failed = 0
  const count = (isPassed) => {
    if (isPassed) passed++
    else failed++
  }
  if (args.length === 0 && !isLong) {
    say('types')
    count((await run([node, 'node_modules/typescript/bin/tsc', '--noEmit'])) === 0)
    // What runs in browsers knows other names than what runs in Node.
    count((await run([node, 'node_modules/typescript/bin/tsc', '--noEmit', '-p', 'web'])) === 0)
    say('lint')
    count((await run([node, 'node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'])) === 0)
  }
  const report = join(root, '.cache', `test-report-${process.pid}.json`)
  mkdirSync(join(root, '.cache'), { recursive: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const files = isLong && args.length === 0 ? longTests : args
  // What the long form judges beside the rest, how long things take, isn't to be of other files.
  if (isLong) reporters.push('--no-file-parallelism')
  const env = isLong ? { FAULTS: 'long' } : {}
  const code = await run([node, 'node_modules/vitest/vitest.mjs', 'run', ...reporters, ...files], env)
  const { tests, isWhole } = readReport(report)
  passed += tests.passed
  failed += tests.failed
  // A file that doesn't load, or an error outside any test, has no test of its own to count.
  if (code !== 0 && tests.failed === 0) failed++
  if (!isWhole && code === 0) failed++
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

function readReport(file) {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8'))
    return { tests: { passed: numPassedTests, failed: numFailedTests }, isWhole: true }
  } catch {
    return { tests: { passed: 0, failed: 0 }, isWhole: false }
  } finally {
    rmSync(file, { force: true })
  }
}

/** Runs a tool with our terminal; its signals are ours. */
function run([command, ...args], env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' })
    const forward = (signal) => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward)
    child.on('error', () => resolve(1))
    child.on('exit', (code) => {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, forward)
      resolve(code ?? 1)
    })
  })
}
