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

test('order and repeats change nothing', () => {
  const facts = [
    fact('a', 1, 1),
    fact('a', 2, 2),
    fact('a', 2, 3),
    fact('a', 1, 4),
    fact('b', 2, 2, 5),
    fact('b', 1, 2, 4),
  ]
  const expected = bindBrowsers(facts, 200)
  expect(expected.get('a')!.map(({ contactId, fromAt }) => [contactId, fromAt])).toEqual([
    [1, 0],
    [2, 2],
    [1, 4],
  ])
  expect(expected.get('b')!.map(({ contactId, fromId }) => [contactId, fromId])).toEqual([
    [1, 0],
    [2, 5],
  ])
  for (let turn = 1; turn <= facts.length; turn++) {
    const turned = [...facts.slice(turn), ...facts, ...facts.slice(0, turn)].reverse()
    expect(bindBrowsers(turned, 200)).toEqual(expected)
  }
})
