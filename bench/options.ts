/** `npm run bench -- [SCENARIO…] [--rounds N] [--seconds S] [--short]` */

export const scenarioNames = ['ingest-single', 'ingest-batch', 'sustained', 'recover', 'start'] as const
export type ScenarioName = (typeof scenarioNames)[number]

export interface BenchOptions {
  readonly scenarios: readonly ScenarioName[]
  readonly rounds: number
  readonly seconds: number
  readonly isShort: boolean
}

export const usage = `usage: npm run bench -- [${scenarioNames.join('] [')}] [--rounds N] [--seconds S] [--short]
  no name      all of them
  --rounds N   undisturbed rounds of each measurement, 1 to 20 (3)
  --seconds S  length of the sustained load, 5 to 3600 (60; 600 for the goal)
  --short      seconds for each, only to see that nothing is lost: no speed is judged, no result is written
`

/** @throws Error with what is wrong */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const scenarios: ScenarioName[] = []
  let rounds: number | undefined
  let seconds = 60
  let isShort = false
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--help') return 'help'
    if (arg === '--short') isShort = true
    else if (arg === '--rounds') rounds = integer(arg, rest.shift(), 1, 20)
    else if (arg === '--seconds') seconds = integer(arg, rest.shift(), 5, 3600)
    else if (isScenario(arg)) scenarios.push(arg)
    else throw new Error(`unknown scenario or option \`${arg}\``)
  }
  return {
    scenarios: scenarios.length > 0 ? scenarios : scenarioNames,
    rounds: rounds ?? (isShort ? 1 : 3),
    seconds,
    isShort,
  }
}

function isScenario(text: string): text is ScenarioName {
  return (scenarioNames as readonly string[]).includes(text)
}

function integer(name: string, text: string | undefined, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text ?? '') || value < min || value > max) {
    throw new Error(`${name} takes a whole number from ${min} to ${max}`)
  }
  return value
}
