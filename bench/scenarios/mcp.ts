/**
 * The same list of posts by MCP and by REST, from one process by 64 connections. The difference is the cost of the
 * envelope, the arguments and an answer with its content twice (as text and as an object).
 */
import type { BenchSettings, Figure, ScenarioResult } from '../bench.ts'
import { Installation } from '../installation.ts'
import { median } from '../load/latency.ts'
import { runAsking } from '../load/load.ts'
import type { LoadOutcome, Question } from '../load/load-plan.ts'
import { connections, fillWorkspace, measureTrial, posts, roundSeconds, trialRequests } from './api.ts'

const body = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
  params: { name: 'svc.list_posts', arguments: {} },
})
const questions = { reference: { path: '/v1/posts' }, product: { path: '/mcp', body } }
type Side = keyof typeof questions
type Pair = Readonly<Record<Side, LoadOutcome>>

export async function mcp({ cores, isShort, rounds, say }: BenchSettings): Promise<ScenarioResult> {
  const installation = await Installation.start(cores, { services: ['api'] })
  try {
    const count = isShort ? 5 : posts
    const { apiKey } = await fillWorkspace(installation, count)
    const { port } = installation.service('api')
    await checkAnswer(port, apiKey, Math.min(count, 100))
    const run = async (side: Side, requests: number): Promise<LoadOutcome> => {
      const question: Question = { ...questions[side], apiKey }
      const plan = { port, questions: [question], connections, requests, withinSeconds: 120 }
      const { outcome } = await runAsking(plan, cores, installation.folder)
      if ((outcome.answers['200'] ?? 0) === requests) return outcome
      throw new Error(`${question.path}: ${JSON.stringify(outcome.answers)}, unanswered ${outcome.unanswered}`)
    }
    const requestsOf = await measureTrial((side) => run(side, isShort ? 20 : trialRequests), isShort)
    const pairs: Pair[] = []
    for (let round = 0; round < rounds; round++) {
      pairs.push({
        reference: await run('reference', requestsOf.reference),
        product: await run('product', requestsOf.product),
      })
    }
    const figures = figuresOf(pairs)
    say(`  ${figures.map(({ value, unit }) => `${value.toFixed(2)} ${unit}`).join(', ')}`)
    return {
      figures,
      remarks: [`${connections} connections, one API process, its Postgres on the same core; answers of 100 posts.`],
      settings: { connections, posts, roundSeconds },
      rounds: pairs,
    }
  } finally {
    await installation.stop()
  }
}

/** The load looks at the status alone, which is 200 for most refusals as well. */
async function checkAnswer(port: number, apiKey: string, rows: number): Promise<void> {
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body })
  const { result } = (await response.json()) as { result?: { structuredContent?: { items?: unknown[] } } }
  const listed = result?.structuredContent?.items?.length
  if (listed !== rows) throw new Error(`/mcp answers ${listed} posts and not ${rows}`)
}

function figuresOf(pairs: readonly Pair[]): Figure[] {
  const rate = ({ sent, seconds }: LoadOutcome) => sent / seconds
  const middle = pairs.map(({ product }) => product).sort((one, other) => rate(one) - rate(other))[pairs.length >> 1]!
  return [
    {
      measure: 'tools/call svc.list_posts ÷ GET /v1/posts, 100 rows',
      value: median(pairs.map(({ reference, product }) => rate(product) / rate(reference))),
      ...{ unit: 'ratio', goal: 0.85 },
    },
    { measure: 'tools/call svc.list_posts', value: rate(middle), unit: 'requests/s', latency: middle.latency },
  ]
}
