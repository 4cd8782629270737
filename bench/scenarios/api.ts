/**
 * Reads and writes of the customer API by 64 connections, each beside a bare handler that runs the same statements. The
 * difference is the cost of checks, idempotency, audit and the shaping of answers.
 */
import { join } from 'node:path'
import { createApiKey } from '../../postgres/tables/api-keys.ts'
import { insertPost, setPostTargets } from '../../postgres/tables/posts.ts'
import { connectSocialAccount } from '../../postgres/tables/social-accounts.ts'
import { scopes } from '../../schemas/scopes.ts'
import type { BenchSettings, Figure, ScenarioResult } from '../bench.ts'
import { startChild } from '../child.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import { runAsking } from '../load/load.ts'
import type { LoadOutcome, Question } from '../load/load-plan.ts'

export const connections = 64
export const posts = 300
export const roundSeconds = 5
const requestsMax = 100_000
export const trialRequests = 500

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
      const run = async (side: keyof typeof ports, { question }: Call, requests: number): Promise<LoadOutcome> => {
        const plan = {
          port: ports[side],
          questions: [{ ...question, apiKey }],
          connections,
          requests,
          withinSeconds: 120,
        }
        const { outcome } = await runAsking(plan, cores, installation.folder)
        if ((outcome.answers['200'] ?? 0) === requests) return outcome
        throw new Error(
          `${side} ${question.path}: ${JSON.stringify(outcome.answers)}, unanswered ${outcome.unanswered}`,
        )
      }
      const figures: Figure[] = []
      const rounds: unknown[] = []
      for (const call of calls) {
        const pairs: Record<keyof typeof ports, LoadOutcome>[] = []
        const requestsOf = await measureTrial((side) => run(side, call, isShort ? 20 : trialRequests), isShort)
        for (let round = 0; round < settings.rounds; round++) {
          pairs.push({
            reference: await run('reference', call, requestsOf.reference),
            product: await run('product', call, requestsOf.product),
          })
        }
        rounds.push({ call: call.name, pairs })
        figures.push(...figuresOf(call.name, pairs))
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

/** How many requests each side answers in a round's time. */
export async function measureTrial(run: (side: 'reference' | 'product') => Promise<LoadOutcome>, isShort: boolean) {
  const requestsIn = ({ sent, seconds }: LoadOutcome) =>
    isShort ? sent : Math.min(requestsMax, Math.max(sent, Math.round((sent / seconds) * roundSeconds)))
  return { reference: requestsIn(await run('reference')), product: requestsIn(await run('product')) }
}

function figuresOf(name: string, pairs: readonly Record<'reference' | 'product', LoadOutcome>[]): Figure[] {
  const rate = ({ sent, seconds }: LoadOutcome) => sent / seconds
  const ratios = pairs.map(({ reference, product }) => rate(product) / rate(reference))
  const middle = pairs.map(({ product }) => product).sort((one, other) => rate(one) - rate(other))[pairs.length >> 1]!
  return [
    {
      measure: `${name} ÷ bare handler with the same SQL`,
      value: median(ratios),
      unit: 'ratio',
      firstStage: 0.5,
      goal: 0.8,
    },
    { measure: name, value: rate(middle), unit: 'requests/s', latency: middle.latency },
  ]
}

export async function fillWorkspace({ pg, workspaceId }: Installation, count: number) {
  const account = await connectSocialAccount(pg, {
    ...{
      workspaceId,
      platform: 'mastodon',
      handle: '@bench',
      displayName: 'Bench',
      connectionType: 'simulated',
      externalId: null,
      metadata: {},
    },
  })
  for (let at = 0; at < count; at++) {
    const fields = {
      workspaceId,
      title: `Post ${at}`,
      baseCaption: 'What a post says.',
      thread: [],
      scheduledAt: null,
      tags: ['bench'],
    }
    const id = await insertPost(pg, fields)
    await setPostTargets(pg, id, [{ accountId: account.id, captionOverride: null }], 'draft')
  }
  const key = await createApiKey(pg, { workspaceId, name: 'bench', scopes })
  return { workspaceId, apiKey: key!.apiKey }
}
