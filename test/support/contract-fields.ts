/** The contract's tables of fields, read as what they say of each field, and compared with schemas of the OpenAPI document. */
import { type ApiSchema, resolved } from './api-requests.ts'

export interface Field {
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly isRequired: boolean
  readonly default?: unknown
  /** Bounds of its length. */
  readonly min?: number
  readonly max?: number
}

/** The fields of a table whose head begins with `Field`. */
export function fieldsOfTable(rows: readonly (readonly string[])[], head: readonly string[]): Field[] {
  const cell = (row: readonly string[], name: string) => (row[head.indexOf(name)] ?? '').trim()
  return rows.map((row) => ({
    name: cell(row, 'Field'),
    ...typeOf(cell(row, 'Type')),
    isRequired: cell(row, 'Required') === 'yes',
    ...defaultOf(cell(row, 'Default')),
    ...boundsOf(cell(row, 'Bounds')),
  }))
}

/** Reads prose like `a (int), b, c (all strings) required; d (int, default 0) optional`. */
export function fieldsOfProse(text: string): Field[] {
  const fields: Field[] = []
  let names: string[] = []
  let typed: Omit<Field, 'isRequired'>[] = []
  for (const [, type, required, name] of text
    .replaceAll('`', '')
    .matchAll(/\(([^)]*)\)|\b(required|optional)\b|\b([a-z][a-z0-9_]*)\b/g)) {
    if (type !== undefined) {
      const said = { ...typeOf(type.split(',')[0]!), ...defaultOf(/default (\S+)/.exec(type)?.[1] ?? '') }
      typed.push(...names.map((one) => ({ name: one, ...said })))
      names = []
    } else if (required !== undefined) {
      fields.push(...typed.map((field) => ({ ...field, isRequired: required === 'required' })))
      typed = []
    } else if (name !== 'and' && name !== 'all') names.push(name!)
  }
  if (names.length > 0 || typed.length > 0) throw new Error(`not understood to its end: ${text}`)
  return fields
}

function typeOf(text: string): { type: string; isNullable: boolean } {
  const type = text
    .replace(' or null', '')
    .replace(/^all /, '')
    .replace(/^int\b/, 'integer')
    .replace(/^(string|number)s$/, '$1')
  return { type, isNullable: text.endsWith(' or null') }
}

function defaultOf(text: string): { default?: unknown } {
  if (text === '') return {}
  if (text === 'empty string') return { default: '' }
  if (/^\d/.test(text)) return { default: Number(text) }
  return { default: /`(.*)`/.exec(text)![1] }
}

function boundsOf(text: string): { min?: number; max?: number } {
  const both = /^length (\d+) to (\d+)$/.exec(text)
  if (both) return { min: Number(both[1]), max: Number(both[2]) }
  const most = /^max length (\d+)$/.exec(text)
  if (most) return { max: Number(most[1]) }
  if (text !== '') throw new Error(`these bounds aren't understood: ${text}`)
  return {}
}

/**
 * Faults of an object's schema, as sentences.
 * @param isRequest a default makes a field optional there
 * @param added fields that it may have beyond the contract's
 */
export function objectFaults(
  fields: readonly Field[],
  object: ApiSchema,
  isRequest: boolean,
  added: readonly string[] = [],
): string[] {
  const { properties = {}, required = [] } = resolved(object)
  const known = new Set([...fields.map(({ name }) => name), ...added])
  const strange = Object.keys(properties).filter((name) => !known.has(name))
  return [
    ...strange.map((name) => `${name} isn't in the contract`),
    ...fields.flatMap((field) => {
      const schema = properties[field.name]
      if (schema === undefined) return [`${field.name} is missing`]
      const faults = fieldFaults(field, schema)
      if (required.includes(field.name) !== field.isRequired) {
        faults.push(`should ${field.isRequired ? '' : 'not '}be required`)
      }
      if (isRequest && !field.isNullable && branches(schema).isNullable) faults.push("shouldn't take null")
      return faults.map((fault) => `${field.name} ${fault}`)
    }),
  ]
}

function fieldFaults(field: Field, schema: ApiSchema): string[] {
  const faults: string[] = []
  const { value, isNullable } = branches(schema)
  if (!isOfType(field.type, value)) faults.push(`should be ${field.type}`)
  if (isNullable !== field.isNullable) faults.push(`should ${field.isNullable ? '' : 'not '}be nullable`)
  const shown = schema.default ?? value.default
  if (field.default !== undefined && shown !== field.default) faults.push(`should default to ${String(field.default)}`)
  if (field.min !== undefined && value.minLength !== field.min) faults.push(`should have at least ${field.min}`)
  if (field.max !== undefined && value.maxLength !== field.max) faults.push(`should have at most ${field.max}`)
  return faults
}

/** The schema of a value that isn't null, and whether null is taken. */
function branches(schema: ApiSchema): { value: ApiSchema; isNullable: boolean } {
  const { anyOf, type, ...rest } = resolved(schema)
  if (anyOf !== undefined) {
    const value = anyOf.find((branch) => branch.type !== 'null')!
    return { value: resolved(value), isNullable: anyOf.some((branch) => branch.type === 'null') }
  }
  if (typeof type === 'string' || type === undefined) return { value: resolved(schema), isNullable: false }
  return { value: { ...rest, type: type.find((one) => one !== 'null')! }, isNullable: type.includes('null') }
}

function isOfType(type: string, schema: ApiSchema): boolean {
  const list = /^array of (.+)$/.exec(type)?.[1]
  if (list !== undefined) {
    const items = resolved(schema.items ?? {})
    return (
      schema.type === 'array' && (['string', 'integer'].includes(list) ? items.type === list : items.type === 'object')
    )
  }
  const values = /^object (?:mapping )?string to (.+)$/.exec(type)?.[1]
  if (values !== undefined) {
    const held = schema.additionalProperties
    return schema.type === 'object' && typeof held === 'object' && held.type === typeOf(values).type
  }
  if (type === 'object' || type === 'free-form object' || type === 'object (free-form)') return schema.type === 'object'
  if (type === 'date-time') return schema.type === 'string' && schema.format === 'date-time'
  return schema.type === type && schema.format === undefined
}
