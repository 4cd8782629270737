/**
 * A POST by undici's dispatcher itself. It keeps the answer's status and beginning, so a delivery needs neither a
 * stream nor a signal of its own. These took as long as the rest of the delivery (`npm run bench -- pipeline`).
 */
import type { Dispatcher } from 'undici'
import { webhookAnswerBytesMax, webhookAnswerKeptBytes, webhookAttemptMs } from '../../schemas/limits/webhook-limits.ts'

export type { Dispatcher }

export interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
}

/**
 * The status counts, however the body ends: a receiver that said 2xx has it.
 * @throws the error that kept the status from coming, with the name `TimeoutError` where it didn't come in time
 */
export function sendRequest(
  url: string,
  headers: Record<string, string>,
  body: string,
  dispatcher: Dispatcher,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url)
  return new Promise((resolve, reject) => {
    const kept: Buffer[] = []
    let [keptBytes, bytes] = [0, 0]
    let isOver = false
    let answer: Omit<Answer, 'body'> | undefined
    let controller: Dispatcher.DispatchController | undefined
    const late = setTimeout(() => {
      const error = new DOMException('The attempt took too long', 'TimeoutError')
      end(error)
      controller?.abort(error)
    }, webhookAttemptMs)

    function end(error?: Error): void {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      if (answer !== undefined) resolve({ ...answer, body: textOf(kept) })
      else reject(error)
    }

    dispatcher.dispatch(
      { origin, path: pathname + search, method: 'POST', headers, body },
      {
        onRequestStart(started) {
          controller = started
          // It waited for a connection all the time.
          if (isOver) started.abort(new Error('the attempt is over'))
        },
        onResponseStart(_, status, { 'retry-after': retryAfter }) {
          if (status >= 200) answer = { status, retryAfter: [retryAfter].flat()[0] }
        },
        // Read to the end, so that the connection can be used again, or cut at the bound.
        onResponseData(started, chunk) {
          const part = chunk.subarray(0, webhookAnswerKeptBytes - keptBytes)
          // The chunk's memory is used for others as well.
          if (part.length > 0) kept.push(Buffer.from(part))
          keptBytes += part.length
          bytes += chunk.length
          if (bytes <= webhookAnswerBytesMax) return
          end()
          started.abort(new Error('the answer is too long'))
        },
        onResponseEnd: () => end(),
        onResponseError: (_, error) => end(error),
      },
    )
  })
}

/** Bytes of a character that was cut are left out. Postgres takes no NUL. */
function textOf(kept: readonly Buffer[]): string {
  if (kept.length === 0) return ''
  return new TextDecoder().decode(Buffer.concat(kept), { stream: true }).replaceAll('\0', '\uFFFD')
}
