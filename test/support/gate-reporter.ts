/** A reporter for `npm test`: writes what start/test-run.mjs counts and names to the file `TEST_REPORT`. */
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from 'vitest/node'

export interface TestReport {
  passed: number
  /** Failed tests, failed set-ups, and errors outside any test. */
  failed: { file: string; name: string }[]
  skipped: { file: string; name: string; reason: string }[]
  /** By file: loading, hooks and tests, in milliseconds. */
  durations: Record<string, number>
}

export default class GateReporter implements Reporter {
  private root = ''

  onInit({ config }: Vitest): void {
    this.root = config.root
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const report: TestReport = { passed: 0, failed: [], skipped: [], durations: {} }
    for (const module of modules) this.add(module, report)
    for (const { message } of errors) report.failed.push({ file: 'outside any test', name: message.split('\n')[0]! })
    writeFileSync(process.env['TEST_REPORT']!, JSON.stringify(report))
  }

  private add(module: TestModule, report: TestReport): void {
    const file = relative(this.root, module.moduleId)
    const { setupDuration, collectDuration, duration } = module.diagnostic()
    report.durations[file] = Math.round(setupDuration + collectDuration + duration)
    const suites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0)
    if (module.errors().length > 0) report.failed.push({ file, name: 'loading or set-up' })
    for (const { fullName } of suites) report.failed.push({ file, name: `${fullName}: set-up` })
    const reason = module.state() === 'failed' ? 'its file failed' : 'left out by the options of this run'
    for (const test of module.children.allTests()) addTest(test, file, reason, report)
  }
}

function addTest(test: TestCase, file: string, reasonElse: string, report: TestReport): void {
  const result = test.result()
  if (result.state === 'passed') report.passed++
  else if (result.state === 'skipped') {
    report.skipped.push({ file, name: test.fullName, reason: result.note ?? reasonElse })
  } else report.failed.push({ file, name: test.fullName })
}
