/** Requests of the load child to the API: questions in turn, each POST under an Idempotency-Key of its own. */
import { randomUUID } from 'node:crypto'
import type { AskPlan } from './load-plan.ts'

/** @returns what makes the next request */
export function makeQuestions({ questions, port }: AskPlan): () => { readonly bytes: string } {
  const keyPrefix = randomUUID()
  let count = 0
  return () => {
    const { path, apiKey, body } = questions[count++ % questions.length]!
    const head = [
      `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${apiKey}`,
      'Accept: application/json',
    ]
    if (body !== undefined) {
      head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`)
      head.push(`Idempotency-Key: ${keyPrefix}-${count}`)
    }
    return { bytes: `${head.join('\r\n')}\r\n\r\n${body ?? ''}` }
  }
}
