/**
 * Which stage of ingest takes what share of its main thread, from a V8 CPU profile of two seconds of full load. Time in
 * built-in functions counts for the code of ours that called them. V8 takes for idle what uWebSockets.js does outside
 * JavaScript (reading sockets, parsing heads); how long the thread really slept, the kernel knows.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sleep } from '../../runtime/retry.ts'

export interface StageShare {
  readonly stage: string
  /** Share of the time in which the thread didn't sleep, 0 to 1. */
  readonly share: number
  /** Files with most of it. */
  readonly files: string[]
}

/** A span of a process's main thread, in microseconds of the machine's monotonic clock, which V8 uses as well. */
export interface WatchedSpan {
  readonly from: number
  readonly to: number
  /** Microseconds of it that the thread neither ran nor waited for the core. */
  readonly slept: number
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly children?: readonly number[]
}

interface Profile {
  readonly nodes: readonly ProfileNode[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
  readonly startTime: number
}

/** By the beginning of the path in dist/; the first that fits. */
const stages: readonly [stage: string, paths: readonly string[]][] = [
  ['HTTP in JavaScript', ['ingest/server', 'ingest/request-sender', 'runtime/http/']],
  ['parse JSON', ['schemas/json']],
  ['encode and log', ['ingest/log/', 'ingest/ids', 'schemas/row']],
  ['validate', ['schemas/']],
  ['enrich', ['ingest/enrich', 'ingest/enrich/', 'ingest/keys', 'ingest/salts', 'ingest/bots']],
  ['hash and look for duplicates', ['runtime/hash']],
  ['ship', ['ingest/ship/', 'clickhouse/', 'postgres/']],
  ['receive and count', ['ingest/', 'runtime/']],
]
const duplicateFiles = 'ingest/log/dedup-window'
const packagesOfEnriching = /^(lru-cache|bowser|isbot|tldts|tldts-core|ipaddr\.js)$/
const packagesOfShipping = /^(@clickhouse|ioredis|@ioredis|pg|pg-\w+|redis-\w+)$/
const nativeStage = 'outside JavaScript: sockets, parsing HTTP'
const ownPlaces = new Map([
  ['(idle)', nativeStage],
  ['(program)', nativeStage],
  ['(garbage collector)', 'collect garbage'],
])
const filesShown = 4
const shownShareMin = 0.005

/** Watches the thread for a part of a load that has begun by then and goes on. */
export async function watchThread(pid: number, afterMs: number, lengthMs: number): Promise<WatchedSpan> {
  await sleep(afterMs)
  const [before, from] = [busyMicroseconds(pid), monotonicMicroseconds()]
  await sleep(lengthMs)
  const [after, to] = [busyMicroseconds(pid), monotonicMicroseconds()]
  return { from, to, slept: Math.max(0, to - from - (after - before)) }
}

/** Running, or waiting for the core. */
function busyMicroseconds(pid: number): number {
  const [ran, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return (ran! + waited!) / 1000
}

function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/** Reads the one profile that a process left in `folder`. */
export function readStages(folder: string, span: WatchedSpan): StageShare[] {
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'))
  if (!name) throw new Error('ingest left no profile')
  return stagesOf(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile, span)
}

interface StageTime {
  time: number
  readonly files: Map<string, number>
}

function stagesOf({ nodes, samples, timeDeltas, startTime }: Profile, span: WatchedSpan): StageShare[] {
  const places = placesOf(nodes)
  const byStage = new Map<string, StageTime>([[nativeStage, { time: -span.slept, files: new Map() }]])
  let at = startTime
  for (const [index, node] of samples.entries()) {
    const time = timeDeltas[index]!
    at += time
    if (at < span.from || at > span.to) continue
    const { stage, file } = places.get(node)!
    const known = byStage.get(stage) ?? { time: 0, files: new Map() }
    known.time += time
    known.files.set(file, (known.files.get(file) ?? 0) + time)
    byStage.set(stage, known)
  }
  const total = [...byStage.values()].reduce((sum, { time }) => sum + Math.max(0, time), 0)
  return [...byStage]
    .map(([stage, { time, files }]) => ({
      stage,
      share: rounded(Math.max(0, time) / total),
      files: shown(files, total),
    }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share)
}

function shown(files: Map<string, number>, total: number): string[] {
  return [...files]
    .filter(([file, time]) => file !== '' && time / total >= shownShareMin)
    .sort((a, b) => b[1] - a[1])
    .slice(0, filesShown)
    .map(([file, time]) => `${file} ${rounded((time / total) * 100)} %`)
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}

interface Place {
  readonly stage: string
  readonly file: string
}

function placesOf(nodes: readonly ProfileNode[]): Map<number, Place> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const places = new Map<number, Place>()
  const visit = (node: ProfileNode, caller: Place) => {
    const place = placeOf(node, caller)
    places.set(node.id, place)
    for (const child of node.children ?? []) visit(byId.get(child)!, place)
  }
  visit(nodes[0]!, { stage: 'Node’s own: timers, files, streams', file: '' })
  return places
}

function placeOf({ callFrame: { functionName, url } }: ProfileNode, caller: Place): Place {
  const own = ownPlaces.get(functionName)
  if (own) return { stage: own, file: '' }
  // Built-in functions, and what Node does for whoever called it.
  if (!url.startsWith('file:')) return caller
  const path = fileURLToPath(url)
  const [, name] = /node_modules\/([^/]+)/.exec(path) ?? []
  if (name !== undefined) {
    const file = `node_modules/${name}`
    if (packagesOfEnriching.test(name)) return { stage: 'enrich', file }
    return { stage: packagesOfShipping.test(name) ? 'ship' : caller.stage, file }
  }
  const file = path.split('/dist/').at(-1)!.replace(/\.js$/, '.ts')
  if (file.startsWith(duplicateFiles)) return { stage: 'hash and look for duplicates', file }
  // The shipper reads segments with the log's own reader.
  if (caller.stage === 'ship' && file.startsWith('ingest/log/')) return { stage: 'ship', file }
  const stage = stages.find(([, paths]) => paths.some((start) => file.startsWith(start)))?.[0] ?? 'other'
  return { stage, file }
}
