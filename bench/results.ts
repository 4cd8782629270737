/** The kept results: one file a scenario, the last run of it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFile } from '../runtime/paths.ts'
import type { ScenarioResult } from './bench.ts'
import type { MachineFacts } from './machine.ts'
import { type ScenarioName, scenarioNames } from './options.ts'

export interface KeptResult extends ScenarioResult {
  readonly scenario: ScenarioName
  readonly measuredAt: string
  readonly command: string
  readonly commit: string
  readonly machine: MachineFacts
  /** Where the sides ran. */
  readonly placement: string
}

const folder = projectFile('bench/results')

export function keepResult(result: KeptResult): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${result.scenario}.json`), `${JSON.stringify(result, rounded, 1)}\n`)
}

/** In the order of the scenarios. */
export function keptResults(): KeptResult[] {
  return scenarioNames.flatMap((name) => {
    const file = join(folder, `${name}.json`)
    return existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8')) as KeptResult] : []
  })
}

/** Digits beyond the fourth of a fraction are noise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value
}
