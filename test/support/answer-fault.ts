/** Judges answers by the OpenAPI document, headers included. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { refusals } from '../../runtime/http/refusals.ts'
import { unparsedRefusals } from '../../runtime/http/unparsed.ts'
import { problems } from '../../schemas/errors/problems.ts'
import { type ApiOperation, apiDocument } from './api-requests.ts'

const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, binary: true },
})
ajv.addKeyword('components')
const components = closed(apiDocument.components)
const validators = new Map<object, ValidateFunction>()
function validatorOf(schema: object): ValidateFunction {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const made = ajv.compile({ ...closed(schema), components })
  validators.set(schema, made)
  return made
}

/** The document lets responses grow; here a member that it doesn't name is a mistake. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    const isObject = value?.type === 'object' && value.properties && !('additionalProperties' in value)
    return isObject ? { ...value, additionalProperties: false } : value
  })
}

/** Answers that any path may give, whatever stands in the document: those from before there is an operation. */
const atAnyPath = [
  problems.not_found,
  problems.method_not_allowed,
  refusals.badFraming,
  refusals.manyHosts,
  refusals.bodyTooLarge,
  refusals.encoding,
  unparsedRefusals.headTooLarge,
].map(({ status, detail }) => `${status} ${JSON.stringify({ detail })}`)

/** The answer's fault; undefined where it is as the document says. */
export async function answerFault(response: Response, shown: ApiOperation): Promise<string | undefined> {
  const said = shown.responses[String(response.status)]
  const text = await response.text()
  if (said === undefined)
    return atAnyPath.includes(`${response.status} ${text.trimEnd()}`)
      ? undefined
      : `undocumented ${response.status} ${text}`
  for (const [name, { required }] of Object.entries(said.headers ?? {})) {
    if (required && !response.headers.has(name)) return `${response.status} without ${name}`
  }
  if (said.content === undefined) return text === '' ? undefined : `${response.status} with a body`
  const type = (response.headers.get('content-type') ?? '').split(';')[0]!
  const content = said.content[type] ?? said.content[type.replace(/\/.*/, '/*')]
  if (content === undefined) return `${response.status} as ${type}`
  if (type !== 'application/json') return undefined
  const validate = validatorOf(content.schema)
  return validate(JSON.parse(text)) ? undefined : `${response.status} ${text} ${JSON.stringify(validate.errors)}`
}
