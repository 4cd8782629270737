/** The refusals of the OpenAPI document: which an operation can answer, with their bodies and headers. */
import { refusals } from '../../runtime/http/refusals.ts'
import { problems } from '../../schemas/errors/problems.ts'
import { greaterThanEqual, missing } from '../../schemas/errors/validation-errors.ts'
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

type ProblemCode = keyof typeof problems

/** @param codes what can be behind it: their texts are the examples */
function error(description: string, codes: readonly ProblemCode[], headers: Record<string, unknown> = {}) {
  return answer(description, 'PublicApiError', headers, examplesOf(codes))
}

function examplesOf(codes: readonly ProblemCode[]): Examples {
  const detailOf = (code: ProblemCode) => problems[code].detail.replace('{}', subjects[code] ?? '')
  return Object.fromEntries(codes.map((code) => [code, { value: { detail: detailOf(code) } }]))
}

/** Subjects for texts that name one. */
const subjects: Partial<Record<ProblemCode, string>> = {
  scope_missing: 'posts:write',
  image_too_large: '26214400',
  video_too_large: '536870912',
  media_type_mismatch: 'image/png',
}

type Examples = Record<string, { value: { detail: unknown } }>
type Answer = ReturnType<typeof answer>

function answer(description: string, schema: string, headers: Record<string, unknown>, examples: Examples) {
  return {
    description,
    headers: { ...requestIdHeader, ...headers },
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples } },
  }
}

const authenticate = {
  'WWW-Authenticate': { description: 'How to authenticate: `Bearer`.', required: true, schema: string },
}
const retryAfter = (description: string) => ({ 'Retry-After': { description, required: true, schema: integer } })

/** Headers of every answer to a good key. */
export const rateLimitHeaders = {
  'X-RateLimit-Limit': { description: 'Allowed requests in the window.', schema: integer },
  'X-RateLimit-Remaining': { description: 'Requests left in the window.', schema: integer },
  'X-RateLimit-Reset': { description: 'When the window resets, as a Unix timestamp.', schema: integer },
}

/** Responses by status. */
export function errorsOf({ input, effect, problems: own = [] }: Operation): Record<number, unknown> {
  const hasBody = input.body !== undefined
  const isMutation = effect !== 'read'
  const hasInput = isMutation || hasBody || input.path !== undefined || input.query !== undefined
  const takesBytes = hasBody || input.form !== undefined
  const ofChain: Record<number, Answer> = {
    ...(hasBody && { 400: error('The body is not readable as UTF-8 JSON of sane depth', ['body_unparsable']) }),
    401: error('The API key is missing, malformed, revoked, expired or unknown', ['not_authenticated'], authenticate),
    402: error('The owner has not selected a plan', ['plan_missing']),
    403: error('The API key lacks the required scope, or access to the workspace', [
      'scope_missing',
      'workspace_access_denied',
    ]),
    ...(isMutation && {
      409: error(conflicts, ['idempotency_key_reused', 'idempotency_in_progress'], conflictHeaders),
    }),
    ...(hasBody && { 408: refused('The body did not arrive in time', 'bodyLate') }),
    ...(takesBytes && { 413: refused('The body is too large', 'bodyTooLarge') }),
    ...(takesBytes && { 415: refused('The body is compressed', 'encoding') }),
    ...((hasInput || takesBytes) && { 422: answer('Validation Error', 'HTTPValidationError', {}, validationExamples) }),
    429: error('The API key exceeded its request rate limit', ['rate_limited'], {
      ...retryAfter('Seconds until the window resets.'),
      ...rateLimitHeaders,
    }),
    500: error('Internal Server Error', ['internal']),
    503: unavailable(hasBody, isMutation),
  }
  return withOwn(ofChain, own)
}

/** @param hasBody one that is held in memory until it is whole */
function unavailable(hasBody: boolean, isMutation: boolean): Answer {
  const examples = {
    ...examplesOf(isMutation ? ['store_unavailable', 'workspace_busy'] : ['store_unavailable', 'answer_late']),
    ...(hasBody && exampleOf('bodiesFull')),
  }
  const headers = retryAfter('Seconds after which to try again.')
  return answer('A store that the request needs is down, or too much is under way', 'PublicApiError', headers, examples)
}

const conflicts = 'The Idempotency-Key was used with a different request, or the first one is still running'
const conflictHeaders = {
  'Retry-After': { description: 'While the first request with the key is still running: seconds.', schema: integer },
}

const ownHeaders: Partial<Record<number, Record<string, unknown>>> = {
  416: {
    'Content-Range': { description: 'How many bytes there are: `bytes */1024`.', required: true, schema: string },
  },
}

/** The operation's own refusals, beside those of the chain that have their status. */
function withOwn(ofChain: Record<number, Answer>, own: readonly ProblemCode[]): Record<number, Answer> {
  const all = { ...ofChain }
  for (const status of new Set(own.map((code) => problems[code].status))) {
    const codes = own.filter((code) => problems[code].status === status)
    const before = ofChain[status]
    const texts = codes.map((code) => problems[code].detail)
    if (before === undefined) {
      all[status] = error(texts.join('; '), codes, ownHeaders[status])
      continue
    }
    const { schema, examples } = before.content['application/json']
    all[status] = {
      description: [...texts, before.description].join('; '),
      headers: before.headers,
      content: { 'application/json': { schema, examples: { ...examplesOf(codes), ...examples } } },
    }
  }
  return all
}

/** Answers that the server gives before it knows the operation. */
function refused(description: string, name: keyof typeof refusals) {
  return answer(description, 'PublicApiError', {}, exampleOf(name))
}

function exampleOf(name: keyof typeof refusals): Examples {
  return { [name]: { value: { detail: refusals[name].detail } } }
}

const validationExamples = {
  missing: { value: { detail: [missing(['body', 'title'], {})] } },
  greater_than_equal: { value: { detail: [greaterThanEqual(['query', 'limit'], '0', 1)] } },
}
