/** `npm run bench`: measures the product beside its references and keeps the results. */
import type { BenchSettings, Scenario } from './bench.ts'
import { isComplete } from './bench.ts'
import { cleanUp } from './clean-up.ts'
import { findCores, moveToLoadCore } from './measure/cores.ts'
import { currentCommit, machineFacts } from './measure/machine.ts'
import { readOptions, type ScenarioName, usage } from './options.ts'
import { keptResults, saveResult } from './results.ts'
import { counted, writeResultsPage } from './results-page.ts'
import { api } from './scenarios/api.ts'
import { dashboard } from './scenarios/dashboard.ts'
import { freshness } from './scenarios/freshness.ts'
import { ingestBatch } from './scenarios/ingest-batch.ts'
import { ingestSingle } from './scenarios/ingest-single.ts'
import { mcp } from './scenarios/mcp.ts'
import { mixed } from './scenarios/mixed.ts'
import { overview } from './scenarios/overview.ts'
import { pipeline } from './scenarios/pipeline.ts'
import { recover } from './scenarios/recover.ts'
import { ship } from './scenarios/ship.ts'
import { start } from './scenarios/start.ts'
import { storage } from './scenarios/storage.ts'
import { sustained } from './scenarios/sustained.ts'

const scenarios: Record<ScenarioName, Scenario> = {
  'ingest-single': ingestSingle,
  'ingest-batch': ingestBatch,
  sustained,
  mixed,
  freshness,
  ship,
  overview,
  storage,
  dashboard,
  api,
  mcp,
  pipeline,
  recover,
  start,
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function main(args: string[]): Promise<number> {
  const options = readOptions(args)
  if (options === 'help') {
    process.stdout.write(usage)
    return 0
  }
  if (process.platform !== 'linux') throw new Error('the benches read /proc: they need Linux')
  const cores = findCores()
  const placement =
    typeof cores === 'string' ? cores : `server and stores on core ${cores.server}, load on core ${cores.load}`
  say(placement)
  moveToLoadCore(cores)
  const settings: BenchSettings = {
    cores,
    rounds: options.rounds,
    sustainedSeconds: options.seconds,
    sizes: options.sizes,
    mixedRate: options.rate,
    isShort: options.isShort,
    say,
  }
  const facts = {
    command: ['npm run bench --', ...args].join(' '),
    commit: currentCommit(),
    machine: machineFacts(),
    placement,
  }
  let isAllComplete = true
  for (const name of options.scenarios) {
    say(name)
    const result = await scenarios[name](settings)
    if (result.counts) {
      say(`  ${counted(result.counts)}`)
      isAllComplete &&= isComplete(result.counts)
    }
    for (const remark of result.remarks) say(`  ${remark}`)
    if (options.isShort) continue
    saveResult({ scenario: name, measuredAt: new Date().toISOString(), ...facts, ...result })
    writeResultsPage(keptResults())
  }
  return isAllComplete ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say('ending what was started')
    cleanUp().finally(() => process.exit(130))
  })
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: Error) => {
    process.stderr.write(`bench: ${error.message}\n`)
    cleanUp().finally(() => process.exit(2))
  },
)
