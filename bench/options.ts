/** `npm run bench -- [SCENARIO…] [--rounds N] [--seconds S] [--sizes A,B] [--rate R] [--short]` */

export const scenarioNames = [
  'ingest-single',
  'ingest-batch',
  'sustained',
  'mixed',
  'freshness',
  'ship',
  'overview',
  'storage',
  'dashboard',
  'api',
  'mcp',
  'pipeline',
  'recover',
  'start',
] as const
export type ScenarioName = (typeof scenarioNames)[number]

export interface BenchOptions {
  readonly scenarios: readonly ScenarioName[]
  readonly rounds: number
  readonly seconds: number
  readonly sizes: readonly number[]
  readonly rate: number
  readonly isShort: boolean
}

export const usage = `usage: npm run bench -- [SCENARIO…] [options]
  SCENARIO     ${scenarioNames.join(', ')}
  no name      all of them
  --rounds N   undisturbed rounds of each measurement, 1 to 20 (3)
  --seconds S  length of the sustained loads, and of the live dashboard, 5 to 3600 (60; 600 for the goal)
  --sizes A,B  events that overviews are measured on, storage and the dashboard on the last, ascending, 1000 to 100000000 (1000000,10000000)
  --rate R     events a second of \`mixed\`, 100 to 100000 (20000)
  --short      seconds for each, only to see that nothing is lost: no speed is judged, no result is written
`

/** @throws Error with what is wrong */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const scenarios: ScenarioName[] = []
  let rounds: number | undefined
  let seconds = 60
  let sizes: number[] | undefined
  let rate: number | undefined
  let isShort = false
  const rest = [...args]
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--help') return 'help'
    if (arg === '--short') isShort = true
    else if (arg === '--rounds') rounds = integer(arg, rest.shift(), 1, 20)
    else if (arg === '--seconds') seconds = integer(arg, rest.shift(), 5, 3600)
    else if (arg === '--sizes') sizes = readSizes(rest.shift())
    else if (arg === '--rate') rate = integer(arg, rest.shift(), 100, 100_000)
    else if (isScenario(arg)) scenarios.push(arg)
    else throw new Error(`unknown scenario or option \`${arg}\``)
  }
  return {
    scenarios: scenarios.length > 0 ? scenarios : scenarioNames,
    rounds: rounds ?? (isShort ? 1 : 3),
    seconds,
    sizes: sizes ?? (isShort ? [2_000, 20_000] : [1_000_000, 10_000_000]),
    rate: rate ?? (isShort ? 1_000 : 20_000),
    isShort,
  }
}

function isScenario(text: string): text is ScenarioName {
  return (scenarioNames as readonly string[]).includes(text)
}

function readSizes(text: string | undefined): number[] {
  const sizes = (text ?? '').split(',').map((size) => integer('--sizes', size, 1_000, 100_000_000))
  if (sizes.some((size, at) => at > 0 && size <= sizes[at - 1]!)) throw new Error('--sizes must be ascending')
  return sizes
}

function integer(name: string, text: string | undefined, min: number, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text ?? '') || value < min || value > max) {
    throw new Error(`${name} takes a whole number from ${min} to ${max}`)
  }
  return value
}
