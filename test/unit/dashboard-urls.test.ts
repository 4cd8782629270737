import { expect, test } from 'vitest'
import { readUrl } from '../../web/dashboard/parts/read-url.ts'

test('an address is read by browsers without `URL.canParse`, and other texts are none', () => {
  expect(readUrl('https://example.com/card.png')?.host).toBe('example.com')
  for (const text of ['', 'https:', 'example.com']) expect(readUrl(text)).toBeUndefined()
})
