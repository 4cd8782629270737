/**
 * Reads and writes of the customer API by 64 connections, each beside a bare handler that runs the same statements. The
 * difference is the cost of checks, idempotency, audit and the shaping of answers.
 */
import { join } from 'node:path'
import { connectSocialAccount } from '../../postgres/tables/accounts/social-accounts.ts'
import { setPostTargets } from '../../postgres/tables/posts/post-targets.ts'
import { insertPost } from '../../postgres/tables/posts/posts.ts'
import { createApiKey } from '../../postgres/tables/workspaces/api-keys.ts'
import { scopes } from '../../schemas/scopes.ts'
import type { BenchSettings, Figure, ScenarioResult } from '../bench.ts'
import { startChild } from '../child.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import { runAsking } from '../load/load.ts'
import type { AskPlan, LoadOutcome, Question } from '../load/load-plan.ts'

export const connections = 64
export const posts = 300
export const roundSeconds = 5
const requestsMax = 100_000
const trialRequests = 500

interface Call {
  readonly name: string
  readonly question: Omit<Question, 'apiKey'>
}

const calls: readonly Call[] = [
  { name: 'GET /v1/posts, 100 rows', question: { path: '/v1/posts' } },
  {
    name: 'POST /v1/posts, idempotent and audited',
    question: {
      path: '/v1/posts',
      body: JSON.stringify({ title: 'Bench', base_caption: 'What a post says. '.repeat(10) }),
    },
  },
]

export async function api(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const installation = await Installation.start(cores, { services: ['api'] })
  try {
    const { workspaceId, apiKey } = await fillWorkspace(installation, isShort ? 5 : posts)
    const reference = await startChild({
      file: 'bench/references/reference-api-server.js',
      cores,
      side: 'server',
      logFile: join(installation.folder, 'logs', 'reference.log'),
      programArguments: [installation.environment['DATABASE_URL']!, String(workspaceId)],
    })
    try {
      const ports = { reference: reference.port, product: installation.service('api').port }
      const run = (side: Side, { question }: Call, requests: number) =>
        askInFull(installation, { port: ports[side], questions: [{ ...question, apiKey }], requests }, settings)
      const figures: Figure[] = []
      const rounds: unknown[] = []
      for (const call of calls) {
        const pairs = await measurePairs((side, requests) => run(side, call, requests), settings)
        rounds.push({ call: call.name, pairs })
        const measure = `${call.name} ÷ bare handler with the same SQL`
        figures.push(...pairFigures(pairs, call.name, { measure, firstStage: 0.5, goal: 0.8 }))
        say(
          `  ${call.name}: ${figures
            .slice(-2)
            .map(({ value, unit }) => `${value.toFixed(2)} ${unit}`)
            .join(', ')}`,
        )
      }
      return {
        figures,
        remarks: [`${connections} connections, one API process, its Postgres on the same core.`],
        settings: { connections, posts, roundSeconds },
        rounds,
      }
    } finally {
      await reference.stop()
    }
  } finally {
    await installation.stop()
  }
}

export type Side = 'reference' | 'product'
export type Pair = Readonly<Record<Side, LoadOutcome>>

/** @throws Error when an answer isn't a 200 or doesn't come */
export async function askInFull(
  { folder }: Installation,
  asking: Pick<AskPlan, 'port' | 'questions' | 'requests'>,
  { cores }: Pick<BenchSettings, 'cores'>,
): Promise<LoadOutcome> {
  const { outcome } = await runAsking({ ...asking, connections, withinSeconds: 120 }, cores, folder)
  if ((outcome.answers['200'] ?? 0) === asking.requests) return outcome
  const { answers, unanswered } = outcome
  throw new Error(
    `port ${asking.port}, ${asking.questions[0]!.path}: ${JSON.stringify(answers)}, unanswered ${unanswered}`,
  )
}

/** Rounds of the two sides, alternating; each of as many requests as the side answers in a round's time. */
export async function measurePairs(
  run: (side: Side, requests: number) => Promise<LoadOutcome>,
  { isShort, rounds }: Pick<BenchSettings, 'isShort' | 'rounds'>,
): Promise<Pair[]> {
  const requestsOf = async (side: Side) => {
    const { sent, seconds } = await run(side, isShort ? 20 : trialRequests)
    return isShort ? sent : Math.min(requestsMax, Math.max(sent, Math.round((sent / seconds) * roundSeconds)))
  }
  const [ofReference, ofProduct] = [await requestsOf('reference'), await requestsOf('product')]
  const pairs: Pair[] = []
  for (let round = 0; round < rounds; round++) {
    pairs.push({ reference: await run('reference', ofReference), product: await run('product', ofProduct) })
  }
  return pairs
}

/** The ratio of rates, and the rate of the middle round of the product. */
export function pairFigures(
  pairs: readonly Pair[],
  name: string,
  ratio: Pick<Figure, 'measure' | 'firstStage' | 'goal'>,
): Figure[] {
  const rate = ({ sent, seconds }: LoadOutcome) => sent / seconds
  const ratios = pairs.map(({ reference, product }) => rate(product) / rate(reference))
  const middle = pairs.map(({ product }) => product).sort((one, other) => rate(one) - rate(other))[pairs.length >> 1]!
  return [
    { ...ratio, value: median(ratios), unit: 'ratio' },
    { measure: name, value: rate(middle), unit: 'requests/s', latency: middle.latency },
  ]
}

export async function fillWorkspace({ pg, workspaceId }: Installation, count: number) {
  const account = await connectSocialAccount(pg, {
    workspaceId,
    platform: 'mastodon',
    handle: '@bench',
    displayName: 'Bench',
    connectionType: 'simulated',
    externalId: null,
    metadata: {},
  })
  for (let at = 0; at < count; at++) {
    const fields = {
      workspaceId,
      title: `Post ${at}`,
      baseCaption: 'What a post says.',
      thread: [],
      firstComment: null,
      scheduledAt: null,
      tags: ['bench'],
    }
    const id = await insertPost(pg, fields)
    await setPostTargets(pg, id, [{ accountId: account.id, captionOverride: null }], 'draft')
  }
  const key = await createApiKey(pg, { workspaceId, name: 'bench', scopes })
  return { workspaceId, apiKey: key!.apiKey }
}
