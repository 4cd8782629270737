import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { validateInput } from '../../api/operations/validate.ts'
import type { Problem } from '../../schemas/errors/problems.ts'

const input = { query: z.object({ action: z.string().max(5).optional(), days: z.int().optional() }) }

function errorsOf(query: Record<string, string>) {
  try {
    validateInput({ input, effect: 'read' }, { path: {}, query, body: undefined })
    return []
  } catch (problem) {
    return (problem as Problem).detail
  }
}

describe('NUL in a query', () => {
  test('is refused in the parameters that there are, once each', () => {
    expect(errorsOf({ action: 'a\0' })).toEqual([
      {
        type: 'value_error',
        loc: ['query', 'action'],
        msg: 'Value error, NUL characters are not allowed',
        input: 'a\0',
        ctx: { error: {} },
      },
    ])
    expect(errorsOf({ action: '\0'.repeat(6) })).toMatchObject([{ type: 'string_too_long' }])
  })

  test('is no matter in others', () => {
    expect(errorsOf({ other: '\0', action: 'a' })).toEqual([])
  })
})
