/** Keys by which a visitor's pages are known from earlier days. */
import { expect, test } from 'vitest'
import { keys } from '../../pipeline/fold/appearances.ts'

test('a long path has a short key of its own, and no other key is like it', () => {
  const long = `/${'a'.repeat(2_000)}`
  const [one, other, short] = [keys.page(long), keys.page(`${long}b`), keys.page('/pricing')]
  expect([one.length, other.length, short]).toEqual([44, 44, 'p/pricing'])
  expect(new Set([one, other, keys.page(long), short]).size).toBe(3)
})
