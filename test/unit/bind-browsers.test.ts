import { expect, test } from 'vitest'
import { bindBrowsers, type IdentityFact } from '../../pipeline/people/bind.ts'

const fact = (anonymousId: string, contactId: number, at: number, eventId = at): IdentityFact => ({
  ...{ anonymousId, contactId, at, eventId },
})

test('a contact binds the browsers that were identified first, ties by id; the others bind nothing', () => {
  const facts = [fact('c', 1, 5, 9), fact('a', 1, 7), fact('b', 1, 5, 8), fact('a', 2, 9), fact('d', 1, 1)]
  const bound = bindBrowsers(facts, 2)
  expect(Object.fromEntries(bound)).toEqual({
    d: [{ contactId: 1, fromAt: 0, fromId: 0 }],
    b: [{ contactId: 1, fromAt: 0, fromId: 0 }],
    // As if the first contact had never been seen with it.
    a: [{ contactId: 2, fromAt: 0, fromId: 0 }],
  })
})
