/** Which posts of X are one of a text. Whole look-ups are in test/integration/publish-x.test.ts and publish-parts.test.ts. */
import { expect, test } from 'vitest'
import { isReplyOf } from '../../pipeline/publishing/platforms/x-text.ts'

const part = { externalId: '7', url: '' }
const replyTo = { root: part, parent: part }
const shown = (text: string, id = '7') => ({ id: '8', text, referenced_tweets: [{ type: 'replied_to', id }] })

test('a part is known by the one before, whichever mentions X puts in front of it', () => {
  for (const text of ['agrees', '@bob agrees', '@alice @bob agrees', '@bob @alice agrees']) {
    expect(isReplyOf('@bob agrees', shown(text), { ...replyTo })).toBe(true)
  }
  expect(isReplyOf('@bob agrees', shown('@bob disagrees'), replyTo)).toBe(false)
  expect(isReplyOf('@bob agrees', shown('@bob agrees', '6'), replyTo)).toBe(false)
})
