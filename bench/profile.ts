/**
 * Which stage of ingest takes what share of its main thread, from a V8 CPU profile. Time in built-in functions counts for
 * the code of ours that called them; what V8 can't see into (uWebSockets.js, system calls) is "native".
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface StageShare {
  readonly stage: string
  /** Of the time in which the thread wasn't idle, 0 to 1. */
  readonly share: number
  /** Files with most of it. */
  readonly files: string[]
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
}

/** By the beginning of the path in dist/; the first that fits. */
const stages: readonly [stage: string, paths: readonly string[]][] = [
  ['HTTP: head, body, answer', ['ingest/server', 'ingest/request-sender', 'ingest/trusted-proxy', 'runtime/http/']],
  ['parse JSON', ['schemas/json']],
  ['validate', ['schemas/']],
  ['enrich', ['ingest/enrich', 'ingest/steps/', 'ingest/keys', 'ingest/salts', 'ingest/bots', 'node_modules/']],
  ['hash and look for duplicates', ['ingest/log/dedup-window', 'runtime/hash']],
  ['encode and log', ['ingest/log/', 'ingest/ids']],
  ['ship', ['ingest/ship/', 'clickhouse/', 'postgres/']],
  ['receive and count', ['ingest/', 'runtime/']],
]
const encoders = 'schemas/row'
const loaderPackages = /node_modules\/(@clickhouse|ioredis|pg|@ioredis|redis)/
const nativeNames: Record<string, string> = {
  '(program)': 'native: sockets, system calls',
  '(garbage collector)': 'collect garbage',
}
const filesShown = 4

/** Reads the one profile that a process left in `folder`. */
export function readStages(folder: string): StageShare[] {
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.cpuprofile'))
  if (!name) throw new Error('ingest left no profile')
  return stagesOf(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile)
}

function stagesOf({ nodes, samples, timeDeltas }: Profile): StageShare[] {
  const places = placesOf(nodes)
  const byStage = new Map<string, { time: number; files: Map<string, number> }>()
  let total = 0
  for (const [at, node] of samples.entries()) {
    const place = places.get(node)!
    if (place.stage === '') continue
    const time = timeDeltas[at]!
    total += time
    const stage = byStage.get(place.stage) ?? { time: 0, files: new Map() }
    stage.time += time
    stage.files.set(place.file, (stage.files.get(place.file) ?? 0) + time)
    byStage.set(place.stage, stage)
  }
  return [...byStage]
    .map(([stage, { time, files }]) => ({
      stage,
      share: Math.round((time / total) * 1000) / 1000,
      files: [...files]
        .sort((a, b) => b[1] - a[1])
        .slice(0, filesShown)
        .filter(([file, part]) => file !== '' && part / total > 0.005)
        .map(([file, part]) => `${file} ${Math.round((part / total) * 1000) / 10} %`),
    }))
    .sort((a, b) => b.share - a.share)
}

interface Place {
  /** Empty: idle. */
  readonly stage: string
  readonly file: string
}

function placesOf(nodes: readonly ProfileNode[]): Map<number, Place> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const places = new Map<number, Place>()
  const visit = (node: ProfileNode, around: Place) => {
    const place = placeOf(node, around)
    places.set(node.id, place)
    for (const child of node.children ?? []) visit(byId.get(child)!, place)
  }
  visit(nodes[0]!, { stage: 'other', file: '' })
  return places
}

function placeOf({ callFrame: { functionName, url } }: ProfileNode, around: Place): Place {
  if (functionName === '(idle)') return { stage: '', file: '' }
  const native = nativeNames[functionName]
  if (native) return { stage: native, file: '' }
  // Built-in functions and Node's own work for whoever called them.
  if (!url.startsWith('file:')) return around
  const path = fileURLToPath(url)
  const file = path.split('/dist/').at(-1)!
  if (path.includes('node_modules/')) {
    return {
      stage: loaderPackages.test(path) ? 'ship' : 'enrich',
      file: `node_modules/${path.split('node_modules/').at(-1)!.split('/')[0]}`,
    }
  }
  if (file.startsWith(encoders)) return { stage: around.stage === 'ship' ? 'ship' : 'encode and log', file }
  const stage = stages.find(([, paths]) => paths.some((start) => file.startsWith(start)))?.[0] ?? 'other'
  return { stage, file }
}
