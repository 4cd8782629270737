import { expect, test } from 'vitest'
import { makeAttributionKey } from '../../schemas/keys.ts'
import { isLinkKeyShaped, reservedKeys } from '../../schemas/link-key.ts'

test('keys that are made can stand in a short URL, and no reserved name is one', () => {
  const made = makeAttributionKey()
  expect(isLinkKeyShaped(made)).toBe(true)
  expect(reservedKeys.filter((name) => name.length === made.length)).toEqual([])
})
