/** Writes bench/RESULTS.md from the kept results. bench/NOTES.md is written by hand. */
import { writeFileSync } from 'node:fs'
import { projectFile } from '../runtime/paths.ts'
import { type EventCounts, type Figure, isComplete, isReached } from './bench.ts'
import type { KeptResult } from './results.ts'

export function writeResultsPage(results: readonly KeptResult[]): void {
  const text = [
    '# Measured',
    '',
    '`npm run bench` writes this page from `results/*.json`. [NOTES.md](NOTES.md) explains the benches.',
    '',
    '- **R** is a bare uWebSockets.js handler that reads the same body, parses it and answers 202.',
    '- A ratio is the median of pairs of rounds. The two sides take turns in one run.',
    '- The product, R and the stores (Postgres, Redis, ClickHouse) run on one core, the load on another, unless the section says otherwise.',
    '- A CPU-second is one of the processes named, from `/proc`.',
    '- `ingest-…`, `ship` and `overview` throw a round away when other processes took over 10 % of a core. The others keep all rounds.',
    '- "Lost" and "twice" count events. Where sent, acknowledged and stored differ, the figure is void.',
    '- For `times`, ms, s and B less is better. ✓ and ✗ say whether a target is reached.',
    '',
    '| bench | measure | measured | first stage | goal | p50 / p95 / p99 ms | events per CPU-second (R’s) |',
    '|---|---|---|---|---|---|---|',
    ...results.flatMap(({ figures, ...of }) => figures.map((figure) => line(of, figure))),
    '',
    ...results.flatMap(section),
  ]
  writeFileSync(projectFile('bench/RESULTS.md'), `${text.join('\n').trimEnd()}\n`)
}

function line({ scenario, counts }: Pick<KeptResult, 'scenario' | 'counts'>, figure: Figure): string {
  const isValid = counts === undefined || isComplete(counts)
  const { measure, latency, eventsPerCpuSecond } = figure
  const took = latency ? `${latency.p50} / ${latency.p95} / ${latency.p99}` : ''
  const { product, reference } = eventsPerCpuSecond ?? {}
  const yields = product === undefined ? '' : `${grouped(product)}${reference ? ` (${grouped(reference)})` : ''}`
  const cells = [
    scenario,
    measure,
    shown(figure),
    target(figure, figure.firstStage, isValid),
    target(figure, figure.goal, isValid),
    took,
    yields,
  ]
  return `| ${cells.join(' | ')} |`
}

function target(figure: Figure, value: number | undefined, isValid: boolean): string {
  if (value === undefined) return ''
  const verdict = !isValid ? 'void' : isReached(figure, value) ? '✓' : '✗'
  return `${shown({ ...figure, value })} ${verdict}`
}

function shown({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  if (!Number.isFinite(value)) return 'not measured'
  if (unit === 'ratio') return value.toFixed(value < 0.1 ? 3 : 2)
  const text = value >= 100 ? grouped(Math.round(value)) : String(Math.round(value * 10) / 10)
  return `${text} ${unit}`
}

function section(result: KeptResult): string[] {
  const { scenario, machine, commit, measuredAt, command, placement, counts, remarks, settings } = result
  return [
    `## ${scenario}`,
    '',
    `- \`${command}\`, ${measuredAt.slice(0, 10)}, commit ${commit}`,
    `- ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.kernel}, Node ${machine.node}; ${placement}`,
    `- Settings: ${JSON.stringify(settings)}`,
    ...(counts ? [`- ${counted(counts)}`] : []),
    ...remarks.map((remark) => `- ${remark}`),
    '',
  ]
}

export function counted(counts: EventCounts): string {
  const { sent, acknowledged, stored, repeated } = counts
  const text = `sent ${grouped(sent)}, acknowledged ${grouped(acknowledged)}, stored ${grouped(stored)}: lost ${grouped(Math.max(0, acknowledged - stored + repeated))}, twice ${grouped(repeated)}`
  return isComplete(counts) ? text : `**void**: ${text}`
}

function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}
