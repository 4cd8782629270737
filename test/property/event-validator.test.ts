import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dateTimeFields, type FieldSchema } from '../../schemas/event/event-fields.ts'
import { bodySchemas } from '../../schemas/event/event-schemas.ts'
import {
  validateBatch,
  validateBatchEvent,
  validateBots,
  validateBotVisit,
  validateTrack,
} from '../../schemas/event/event-validator.ts'

const sound = { tracking_key: 'k', event_name: 'a', url: 'u', user_agent: 'x' }
const check = (body: unknown, hasUnstorableText = false) => [
  validateTrack(body, hasUnstorableText),
  validateBatch(body),
  validateBots(body, hasUnstorableText),
  validateBatchEvent(body, 0, hasUnstorableText),
  validateBotVisit(body, 0, hasUnstorableText),
]
const fieldNames = [...new Set(Object.values(bodySchemas).flatMap(({ properties }) => Object.keys(properties)))]
  // Their faults are found by a later step where there is no other.
  .filter((name) => !dateTimeFields.includes(name))

test('any JSON value is judged without throwing, and each error can be shown', () => {
  const named = fc.dictionary(fc.constantFrom(...fieldNames, '__proto__', 'toString'), fc.jsonValue({ maxDepth: 7 }))
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), named), (body) => {
      // Other fields of a request change nothing.
      expect(check(body, true)).toEqual(check(body))
      for (const errors of check(body)) {
        if (errors === null) continue
        expect(errors.length).toBeGreaterThan(0)
        for (const error of errors) {
          expect(error.loc[0]).toBe('body')
          expect(JSON.parse(JSON.stringify(error))).toMatchObject({ type: error.type, msg: error.msg })
        }
      }
    }),
    { numRuns: 1000 },
  )
})

describe.each([
  ['event', validateTrack, bodySchemas.event.properties],
  ['visit', validateBots, bodySchemas.visit.properties],
] as const)('each bounded text of an %s counts code points', (_, validate, fields) => {
  const bounded = Object.entries<FieldSchema>(fields).filter(([, { maxLength }]) => maxLength !== undefined)

  test.each(bounded)('%s', (name, { maxLength: max = 0 }) => {
    fc.assert(
      fc.property(
        fc.constantFrom('a', 'é', '汉', '😀'),
        fc.nat({ max: 3 }),
        fc.boolean(),
        (character, emoji, isOver) => {
          const text = '😀'.repeat(emoji) + character.repeat(max - emoji + (isOver ? 1 : 0))
          const errors = validate({ ...sound, [name]: text })
          const msg = `String should have at most ${max} characters`
          const error = { type: 'string_too_long', loc: ['body', name], msg, input: text, ctx: { max_length: max } }
          expect(errors).toEqual(isOver ? [error] : null)
        },
      ),
      { numRuns: 50 },
    )
  })
})
