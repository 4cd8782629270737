/**
 * The same list of posts by MCP and by REST, from one process by 64 connections. The difference is the cost of the
 * envelope, the arguments and an answer with its content twice (as text and as an object).
 */
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { Installation } from '../installation.ts'
import { askInFull, connections, fillWorkspace, measurePairs, pairFigures, posts, roundSeconds } from './api.ts'

const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'svc.list_posts', arguments: {} },
})
const questions = { reference: { path: '/v1/posts' }, product: { path: '/mcp', body } }

export async function mcp(settings: BenchSettings): Promise<ScenarioResult> {
  const { cores, isShort, say } = settings
  const installation = await Installation.start(cores, { services: ['api'] })
  try {
    const count = isShort ? 5 : posts
    const { apiKey } = await fillWorkspace(installation, count)
    const { port } = installation.service('api')
    await checkAnswer(port, apiKey, Math.min(count, 100))
    const pairs = await measurePairs(
      (side, requests) =>
        askInFull(installation, { port, questions: [{ ...questions[side], apiKey }], requests }, settings),
      settings,
    )
    const figures = pairFigures(pairs, 'tools/call svc.list_posts', {
      measure: 'tools/call svc.list_posts ÷ GET /v1/posts, 100 rows',
      goal: 0.85,
    })
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
