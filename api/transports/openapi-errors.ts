/** The refusals of the OpenAPI document: which an operation can answer, with their bodies and headers. */
import { problems } from '../../schemas/problems.ts'
import type { Operation } from '../operations/define.ts'

const string = { type: 'string' }
const integer = { type: 'integer' }

export const errorSchemas = {
  PublicApiError: { type: 'object', properties: { detail: string }, required: ['detail'] },
  HTTPValidationError: {
    type: 'object',
    properties: { detail: { type: 'array', items: { $ref: '#/components/schemas/ValidationError' } } },
    required: ['detail'],
  },
  ValidationError: {
    type: 'object',
    properties: {
      loc: { type: 'array', items: { anyOf: [string, integer] } },
      msg: string,
      type: string,
      input: {},
      ctx: { type: 'object' },
    },
    required: ['loc', 'msg', 'type'],
  },
}

export const requestIdHeader = {
  'X-Request-Id': {
    description: 'The id of this request in our log: the one that was sent, where it is usable.',
    schema: string,
  },
}

function error(description: string, headers: Record<string, unknown> = {}, schema = 'PublicApiError') {
  return {
    description,
    headers: { ...requestIdHeader, ...headers },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  }
}

const authenticate = {
  'WWW-Authenticate': { description: 'How to authenticate: `Bearer`.', required: true, schema: string },
}
const retryAfter = (description: string) => ({ 'Retry-After': { description, required: true, schema: integer } })
const rateLimit = {
  ...retryAfter('Seconds until the window resets.'),
  'X-RateLimit-Limit': { description: 'Allowed requests in the window.', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests left in the window.', schema: integer },
  'X-RateLimit-Reset': { description: 'When the window resets, as a Unix timestamp.', schema: integer },
}

/** Responses by status. */
export function errorsOf({ input, problems: own = [] }: Operation): Record<number, unknown> {
  const hasBody = input.body !== undefined
  const hasInput = hasBody || input.path !== undefined || input.query !== undefined
  return {
    ...(hasBody && { 400: error('The body is not readable as UTF-8 JSON of sane depth') }),
    401: error('The API key is missing, malformed, revoked, expired or unknown', authenticate),
    402: error('The owner has not selected a plan'),
    403: error('The API key lacks the required scope, or access to the workspace'),
    ...Object.fromEntries(own.map((code) => [problems[code].status, error(problems[code].detail)])),
    ...(hasBody && { 413: error('The body is too large'), 415: error('The body is compressed') }),
    ...(hasInput && { 422: error('Validation Error', {}, 'HTTPValidationError') }),
    429: error('The API key exceeded its request rate limit', rateLimit),
    500: error('Internal Server Error'),
    503: error('A store that the request needs is down', retryAfter('Seconds after which to try again.')),
  }
}
