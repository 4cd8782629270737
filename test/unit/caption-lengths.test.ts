import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CaptionCounting, captionCountings, mastodonLength } from '../../schemas/reference/caption-lengths.ts'

const family = '👩‍👩‍👧'
const link = `https://example.com/${'a'.repeat(80)}`

const lengths: Record<CaptionCounting, Record<string, number>> = {
  code_points: { '': 0, abc: 3, é: 1, '🙂': 1, [family]: 5, [link]: 100 },
  graphemes: { '': 0, 'a\r\nb': 3, 'e\u0301': 1, [family]: 1, '🇩🇪🇫🇷': 2, नि: 1, [link]: 100 },
  mastodon: {
    [`See ${link}.`]: 4 + 23 + 1,
    [`(${link})`]: 25,
    'http://a.b': 23,
    'example.com': 11,
    '@ann@example.social hi': 7,
    '@ann hi': 7,
    'mail ann@example.social': 23,
    '.@a.b_c@x.example-y.org!': 8,
    [`${family}@ann@example.social`]: 5,
  },
  x: {
    abc: 3,
    'Grüße, Привет, שלום': 19,
    日本語: 6,
    한국어: 6,
    '“quoted” – text…': 17,
    '🙂': 2,
    [family]: 2,
    '🇩🇪': 2,
    '1️⃣': 2,
    '👍🏽': 2,
    '❤️': 2,
    'e\u0301': 1,
    // Within 30 marks in a row, however many there are.
    [`e${'\u0316'.repeat(29)}\u0301`]: 30,
    [`e${'\u0316'.repeat(30)}\u0301`]: 32,
    [link]: 23,
    [`日本${link}。`]: 4 + 23 + 2,
    'See example.com.': 4 + 23 + 1,
    'see example.com/a?b=c, and': 4 + 23 + 5,
    'http://localhost/': 17,
    'app.internal-thing': 18,
    'ann@example.com': 15,
    'first.last@example.com': 22,
    'v1.2.3 of node.js': 17,
    '„example.com/a“': 25,
    'example.com/日本': 23 + 4,
  },
  threads: { abc: 3, é: 1, 日本: 2, '🙂': 4, [family]: 18, '❤️': 6, '©': 1 },
  utf16: { abc: 3, '🙂': 2 },
  bytes: { abc: 3, é: 2, '🙂': 4 },
}

describe.each(Object.entries(lengths))('%s', (counting, cases) => {
  test.each(Object.entries(cases))('%j is %i long', (text, length) => {
    expect(captionCountings[counting as CaptionCounting](text)).toBe(length)
  })
})

test('graphemes of a long text are those of the text as a whole, wherever it is cut', () => {
  const parts = ['a', '🙂', '\u200d', '👩', '🏽', '\ufe0f', '🇩🇪', '🇫', '\u0301', '日', '\r\n', '각', '\u{e0067}']
  const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts), { minLength: 200, maxLength: 900 }), (chosen) => {
      const text = chosen.join('')
      expect(captionCountings.graphemes(text)).toBe([...segmenter.segment(text)].length)
    }),
    { numRuns: 50 },
  )
})

test('an instance of Mastodon says itself how long a link is, also one that ends in very many brackets or signs', () => {
  expect(mastodonLength(`a ${link}`, 30)).toBe(32)
  expect(mastodonLength(`http://a${')'.repeat(40_000)}`, 30)).toBe(40_030)
  expect(mastodonLength(`http://${'.'.repeat(60_000)}a`, 30)).toBe(30)
})

test.each(['@', '@a', '.a', 'a.', 'a.com', 'https://', '(', ')', 'a-', '👩‍'])(
  'a caption of %j again and again is counted without looking from each place',
  (part) => {
    // Four times the longest caption. By a pattern that is tried again from each place this would take minutes.
    const text = part.repeat(Math.floor((4 * 63_206) / part.length))
    for (const count of [captionCountings.mastodon, captionCountings.x])
      expect(runInNewContext('count(text)', { count, text }, { timeout: 60_000 })).toBeGreaterThan(0)
  },
)
