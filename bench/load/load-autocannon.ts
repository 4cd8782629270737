/**
 * The same load by autocannon, as a cross-check by a tool that others know: unlimited rate, single events only. Its
 * `[<id>]` becomes a random 128-bit id of the connection and a counter, so that no two requests share one.
 */
import autocannon from 'autocannon'
import { eventVariants, idsOf, numbersOf, singleBody } from './event-bodies.ts'
import type { FromLoad, LoadPlan, ToLoad } from './load-plan.ts'

/** Each connection keeps a copy of each. */
const variantsUsed = 16

function run(plan: LoadPlan): void {
  const startedAt = performance.now()
  let lastAnswerAt = startedAt
  const options: autocannon.Options = {
    url: `http://127.0.0.1:${plan.port}${plan.path}`,
    method: 'POST',
    connections: plan.connections,
    pipelining: 1,
    amount: plan.requests,
    timeout: plan.withinSeconds,
    idReplacement: true,
    requests: eventVariants.slice(0, variantsUsed).map((variant, at) => ({
      headers: { 'User-Agent': variant.userAgent, 'Content-Type': 'text/plain;charset=UTF-8' },
      body: singleBody(plan.trackingKeys[0]!, variant, {
        ...idsOf(plan.idPrefix, numbersOf(at)),
        client_event_id: `${plan.idPrefix}-[<id>]`,
      }),
    })),
  }
  const instance = autocannon(options, (error: Error | null, result: autocannon.Result) => {
    if (error) return tell({ type: 'failed', why: error.message })
    tell({ type: 'ended' })
    const { sent } = result.requests
    const answered = result['2xx'] + result.non2xx
    const { p50, p97_5, p99, max } = result.latency
    tell({
      type: 'done',
      outcome: {
        sent,
        answers: { '202': result['2xx'], ...(result.non2xx > 0 ? { other: result.non2xx } : {}) },
        unanswered: sent - answered,
        seconds: (lastAnswerAt - startedAt) / 1000,
        // autocannon knows no p95; whole milliseconds.
        latency: { p50, p95: p97_5, p99, max },
        partial: 0,
      },
    })
  })
  instance.on('response', () => {
    lastAnswerAt = performance.now()
  })
}

function tell(message: FromLoad): void {
  process.send!(message)
}

let plan: LoadPlan | undefined
process.on('message', (message: ToLoad) => {
  if (message.type === 'go') return run(plan!)
  plan = message.plan
  tell({ type: 'ready' })
})
process.on('disconnect', () => process.exit())
