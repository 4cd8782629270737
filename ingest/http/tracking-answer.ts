/** How the tracking routes answer: JSON for any origin, written with as few calls as can be. */
import { endHead } from '../../runtime/http/reply.ts'
import type { HttpResponse } from '../../runtime/http/uws.ts'
import type { Answer } from './receive.ts'

/** @param closes the connection, behind the answer */
export type WriteAnswer = (
  response: HttpResponse,
  requestId: string,
  answer: Answer,
  closes: boolean,
  more?: { readonly allow?: string; readonly headOnly?: boolean },
) => void

const statusLines: Record<number, string> = {
  200: '200 OK',
  202: '202 Accepted',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  413: '413 Payload Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Entity',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}
/** Names and values up to the last value, which is the request's id. */
const commonHeaders = 'Access-Control-Allow-Origin: *\r\nContent-Type: application/json\r\nX-Request-Id'

export function makeWriteAnswer(observeAnswer: (status: number) => void): WriteAnswer {
  return (response, requestId, answer, closes, { allow, headOnly } = {}) => {
    observeAnswer(answer.status)
    response.cork(() => {
      response.writeStatus(statusLines[answer.status]!)
      // One call for three headers: each call costs as much as writing the bytes. The id has none but safe characters.
      response.writeHeader(commonHeaders, requestId)
      if (answer.retryAfter !== undefined) response.writeHeader('Retry-After', String(answer.retryAfter))
      if (allow !== undefined) response.writeHeader('Allow', allow)
      if (answer.status !== 202) response.writeHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
      if (headOnly) endHead(response, answer.body)
      else response.end(answer.body, closes)
    })
  }
}

export function detail(status: number, text: string): Answer {
  return { status, body: JSON.stringify({ detail: text }) }
}
