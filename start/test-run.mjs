/** `npm test`: types, lint, the build, and the tests; the last line counts them. */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, say } from './root.mjs'

const node = process.execPath
const cache = join(root, '.cache')
const durationsFile = join(cache, 'test-durations.json')
/** Seeds that the long form drew, with their results. */
const seedsFile = join(cache, 'test-seeds.txt')
const slowestShown = 20
/** The gate tries the same cases in every run. */
const gateSeed = 1

const checks = [
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit']],
  // Scripts for browsers know other globals than those for Node.
  ['types of web', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'web']],
  ['types of the dashboard', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'web/dashboard']],
  ['lint', ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.']],
]

/** Folders of `npm run test:quick`: their tests wait for no kills, browsers or deadlines. */
const quickFolders = ['test/unit', 'test/tidy', 'test/contract', 'test/oracle']

/** Commands that run tests. */
export const testCommands = ['test', 'test:quick', 'test:faults']

/**
 * `args` go to vitest (`npm test -- test/unit`), and then only the tests run. `test:faults` runs the long form of those
 * that have one, without types and lint.
 * @returns the exit code
 */
export async function runTests(command, args) {
  const isLong = command === 'test:faults'
  mkdirSync(cache, { recursive: true })
  const seed = Number(process.env.SEED ?? (isLong ? Math.floor(Math.random() * 2 ** 31) : gateSeed))
  if (!Number.isInteger(seed)) {
    say('SEED is a whole number')
    return 1
  }
  say(`SEED=${seed}`)
  // Beside the tests, which mostly wait.
  const checking = args.length === 0 && !isLong ? checks.map(([name, tool]) => check(name, tool)) : []
  const report = await runVitest(args.length > 0 ? args : filesOf(command), isLong, seed)
  const checked = await Promise.all(checking)
  const passed = report.passed + checked.filter(({ isPassed }) => isPassed).length
  const failed = report.failed.length + checked.filter(({ isPassed }) => !isPassed).length

  keepDurations(report.durations)
  for (const { output } of checked) process.stdout.write(output)
  const again = `SEED=${seed} npm ${isLong ? 'run test:faults' : 'test'} --`
  for (const line of linesOf(report, again)) process.stdout.write(`${line}\n`)
  const count = `${passed} passed, ${failed} failed, ${report.skipped.length} skipped`
  if (isLong) appendFileSync(seedsFile, `${new Date().toISOString()} SEED=${seed}: ${count}\n`)
  process.stdout.write(`${count}\n`)
  return failed === 0 ? 0 : 1
}

/** An empty list stands for all files. */
function filesOf(command) {
  if (command === 'test:faults') return longTests()
  return command === 'test:quick' ? quickFolders : []
}

async function runVitest(files, isLong, seed) {
  const file = join(cache, `test-report-${process.pid}.json`)
  const options = ['--reporter=default', `--reporter=${join(root, 'test/support/gate-reporter.ts')}`]
  // Kills, full disks and floods of the long form take the whole machine.
  if (isLong) options.push('--no-file-parallelism')
  const child = spawn(node, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files], {
    cwd: root,
    env: { ...process.env, ...(isLong && { FAULTS: 'long' }), SEED: String(seed), TEST_REPORT: file },
    stdio: 'inherit',
  })
  const code = await ended(child)
  const report = readReport(file)
  if (code !== 0 && report.failed.length === 0) report.failed.push({ name: `vitest ended with code ${code}` })
  return report
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    const failed = [{ name: 'vitest ended without a report' }]
    return { passed: 0, failed, skipped: [], durations: {} }
  } finally {
    rmSync(file, { force: true })
  }
}

/** Files that ask which form is run. */
function longTests() {
  return readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .filter((path) => /\bisLong\b|support\/ledger/.test(readFileSync(join(root, path), 'utf8')))
}

async function check(name, command) {
  const child = spawn(node, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const code = await ended(child)
  return { isPassed: code === 0, output: code === 0 ? '' : `failed: ${name}\n${output}` }
}

/** Waits for a tool that runs with our terminal; its signals are ours. */
function ended(child) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  return new Promise((resolve) => {
    const forward = (signal) => child.kill(signal)
    for (const signal of signals) process.on(signal, forward)
    const end = (code) => {
      for (const signal of signals) process.off(signal, forward)
      resolve(code ?? 1)
    }
    child.on('error', () => end(1))
    child.on('close', end)
  })
}

/** Keeps each file's last duration, longest first; the sequence of the next run follows them. */
function keepDurations(durations) {
  const known = existsSync(durationsFile) ? JSON.parse(readFileSync(durationsFile, 'utf8')) : {}
  const all = Object.entries({ ...known, ...durations }).filter(([file]) => existsSync(join(root, file)))
  all.sort(([, one], [, other]) => other - one)
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all), null, 1)}\n`)
}

/**
 * The closing note: the slowest files, skips with their reasons, failures with the command that repeats them.
 * @param again that command, but for the file
 */
function* linesOf({ durations, skipped, failed }, again) {
  const slowest = Object.entries(durations).sort(([, one], [, other]) => other - one)
  if (slowest.length > 1) yield 'slowest files:'
  for (const [file, ms] of slowest.slice(0, slowest.length > 1 ? slowestShown : 0)) {
    yield `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`
  }
  for (const { file, name, reason } of skipped) yield `skipped: ${file} > ${name}: ${reason}`
  for (const { file, name } of failed) {
    yield file === undefined ? `failed: ${name}` : `failed: ${file} > ${name} (again: ${again} ${file})`
  }
}
