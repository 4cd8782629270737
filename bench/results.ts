/** The kept results: one file a scenario, the last run of it. Everything else that was measured goes to `.cache/bench`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFile } from '../runtime/paths.ts'
import type { ScenarioResult } from './bench.ts'
import type { MachineFacts } from './measure/machine.ts'
import { type ScenarioName, scenarioNames } from './options.ts'

export interface KeptResult extends Omit<ScenarioResult, 'rounds'> {
  readonly scenario: ScenarioName
  readonly measuredAt: string
  readonly command: string
  readonly commit: string
  readonly machine: MachineFacts
  /** Where the sides ran. */
  readonly placement: string
}

const folder = projectFile('bench/results')
const wholeFolder = projectFile('.cache/bench')

export function saveResult(result: KeptResult & ScenarioResult): void {
  for (const path of [folder, wholeFolder]) mkdirSync(path, { recursive: true })
  writeFileSync(join(folder, `${result.scenario}.json`), resultText(result))
  writeFileSync(join(wholeFolder, `${result.scenario}.json`), JSON.stringify(result, rounded, 1))
}

/** In the order of the scenarios. */
export function keptResults(): KeptResult[] {
  return scenarioNames.flatMap((name) => {
    const file = join(folder, `${name}.json`)
    return existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8')) as KeptResult] : []
  })
}

/** The short form: without rounds, a line for each fact and figure. */
export function resultText(result: KeptResult & Partial<ScenarioResult>): string {
  const { rounds: _rounds, figures, ...facts } = result
  const lines = Object.entries(facts).map(([name, value]) => `"${name}": ${inOneLine(value)}`)
  const figureLines = figures.map((figure) => `  ${inOneLine(figure)}`)
  return `{\n ${[...lines, `"figures": [\n${figureLines.join(',\n')}\n ]`].join(',\n ')}\n}\n`
}

function inOneLine(value: unknown): string {
  return JSON.stringify(value, rounded)
}

/** Digits beyond the fourth of a fraction are noise. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10_000) / 10_000 : value
}
