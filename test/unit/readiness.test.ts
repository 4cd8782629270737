import { describe, expect, test, vi } from 'vitest'
import { judgeReadiness } from '../../authoring/posts/readiness.ts'
import { captionCountings } from '../../schemas/reference/caption-lengths.ts'
import { jpegPlatforms } from '../../schemas/reference/jpeg-platforms.ts'
import { type Platform, platforms, providers } from '../../schemas/reference/providers.ts'
import { PostCreate } from '../../schemas/resources/post.ts'

const asset = (at: number, more: object = {}) => ({
  at,
  id: 100 + at,
  content_type: 'image/jpeg',
  size_bytes: 1000,
  alt_text: 'Text',
  width: 100,
  height: 100,
  ...more,
})
const film = (at: number, more: object = {}) => asset(at, { content_type: 'video/mp4', ...more })
const many = (count: number, make = asset) => Array.from({ length: count }, (_, at) => make(at))

const account = (platform: Platform, more: object = {}) =>
  ({
    at: 0,
    id: 1,
    platform,
    handle: 'h',
    display_name: 'n',
    status: 'connected',
    external_id: null,
    connection_type: 'simulated',
    health_status: 'ok',
    health_message: '',
    provider_metadata: {},
    ...more,
  }) as Parameters<typeof judgeReadiness>[0]['accounts'][0]

type Part = Parameters<typeof judgeReadiness>[0]['thread'][number]
const partOf = (part: string | Partial<Part>): Part => ({
  text: 'b',
  media: [],
  captions: new Map(),
  ...(typeof part === 'string' ? { text: part } : part),
})

function codes(
  platform: Platform,
  media: ReturnType<typeof asset>[],
  baseCaption = 'a',
  captions = {},
  thread: (string | Partial<Part>)[] = [],
  firstComment: string | null = null,
) {
  const { issues } = judgeReadiness({
    baseCaption,
    firstComment,
    thread: thread.map(partOf),
    media,
    accounts: [account(platform)],
    captions: new Map(Object.entries(captions)),
  })
  return issues.map(({ code }) => code)
}

/** Media that make the platform content. */
const enough = (platform: Platform) =>
  ({ media: [asset(0)], image: [asset(0)], video: [film(0)], none: [] })[providers[platform].needs ?? 'none']

test.each(['\u200B', ' \u2060\u3164\n'])(
  'neither a part of a thread nor a comment is a text that nobody sees: %j',
  (text) => {
    const { success, error } = PostCreate.safeParse({
      title: 'a',
      base_caption: text,
      thread: [text, { text }],
      first_comment: text,
    })
    expect([success, error?.issues.map(({ path }) => path[0])]).toEqual([false, ['thread', 'thread', 'first_comment']])
  },
)

describe.each(platforms)('%s', (platform) => {
  const { captionLengthMax: max, captionCounting, needs, image, video, mixedMax } = providers[platform]
  const { altTextLengthMax, takesThreads, commentLengthMax } = providers[platform]

  test('takes a caption of its length as the platform counts it, and no longer one', () => {
    const each = captionCountings[captionCounting]('🙂')
    const codesOf = (caption: string, own = {}) => codes(platform, enough(platform), caption, own)
    expect(codesOf('🙂'.repeat(Math.floor(max / each)))).toEqual([])
    expect(codesOf('🙂'.repeat(Math.floor(max / each) + 1))).toEqual(['caption_too_long'])
    expect(codesOf('a'.repeat(max + 1), { [platform]: 'short' })).toEqual([])
    expect(codesOf('short', { [platform]: 'a'.repeat(max + 1) })).toEqual(['caption_too_long'])
  })

  test('takes a caption without a visible character under media alone', () => {
    const none = codes(platform, [], 'a')
    for (const caption of [' \n', '\u200B\uFEFF', '\u3164\u2800']) {
      expect(codes(platform, enough(platform), caption)).toEqual(needs === null ? ['caption_blank'] : [])
      expect(codes(platform, [], caption)).toEqual(['caption_blank', ...none])
      expect(codes(platform, [], 'a', { [platform]: caption })).toEqual(['caption_blank', ...none])
    }
    expect(codes(platform, [], '👍\uFE0F')).toEqual(none)
  })

  test('takes a thread whose texts are each as long as a caption, or none', () => {
    const codesOf = (...thread: string[]) => codes(platform, enough(platform), 'a', {}, thread)
    const long = 'a'.repeat(max + 1)
    expect(codesOf('b', 'a'.repeat(max))).toEqual(takesThreads ? [] : ['thread_not_taken'])
    expect(codesOf(long, 'b', `${long}b`)).toEqual(
      takesThreads ? Array(2).fill('caption_too_long') : ['thread_not_taken'],
    )
    const repeated = platform === 'x' ? ['thread_repeats', 'thread_repeats'] : takesThreads ? [] : ['thread_not_taken']
    expect(codesOf('b', ' a', 'b')).toEqual(repeated)
    const links = (count: number) => Array.from({ length: count }, (_, at) => `https://e.x/${at}`).join(' ')
    const linked = platform === 'threads' ? ['too_many_links'] : takesThreads ? [] : ['thread_not_taken']
    expect(codesOf(`${links(5)} ${links(5)}`, links(6))).toEqual(linked)
  })

  test('takes a first comment of its length, or warns that none is published', () => {
    const codesOf = (comment: string) => codes(platform, enough(platform), 'a', {}, [], comment)
    const none = commentLengthMax === null ? ['comment_not_taken'] : []
    expect(codesOf('🙂'.repeat(commentLengthMax ?? 1))).toEqual(none)
    expect(codesOf('🙂'.repeat((commentLengthMax ?? 1) + 1))).toEqual(
      commentLengthMax === null ? none : ['comment_too_long'],
    )
  })

  if (takesThreads)
    test('judges the files and the text of each part of a thread as those of a post', () => {
      const issuesOf = (...thread: Partial<Part>[]) => {
        const content = {
          baseCaption: 'a',
          firstComment: null,
          media: [],
          accounts: [account(platform)],
          captions: new Map(),
        }
        return judgeReadiness({ ...content, thread: thread.map(partOf) }).issues.map(({ loc, code }) => [code, ...loc])
      }
      const [images, videos] = [many(image!.countMax), many(video!.countMax, film)]
      expect(issuesOf({ media: images }, { text: 'c', media: videos })).toEqual([])
      const tooMany = ['too_many_images', 'body', 'thread', 0, 'media_ids']
      expect(issuesOf({ media: many(image!.countMax + 1) })).toEqual([tooMany])
      const both = mixedMax === null ? [['media_mixed', 'body', 'thread', 1, 'media_ids']] : []
      expect(issuesOf({}, { text: 'c', media: [asset(0), film(1)] })).toEqual(both)
      const large = asset(0, { size_bytes: image!.bytesMax + 1, alt_text: '' })
      expect(issuesOf({ media: [large] })).toEqual(
        ['media_too_large', 'alt_text_missing'].map((code) => [code, 'body', 'thread', 0, 'media_ids', 0]),
      )
      const long = 'a'.repeat(max + 1)
      expect(issuesOf({ text: long, captions: new Map([[platform, 'short']]) })).toEqual([])
      const tooLong = ['caption_too_long', 'body', 'thread', 0, 'platform_captions', platform]
      expect(issuesOf({ captions: new Map([[platform, long]]) })).toEqual([tooLong])
    })

  test('takes a post without media, or says what it needs', () => {
    expect(codes(platform, [])).toEqual(needs === null ? [] : [`${needs}_missing`])
  })

  test('takes as many images and videos as it says, each no larger', () => {
    for (const [kind, limits, make] of [
      ['image', image, asset],
      ['video', video, film],
    ] as const) {
      const lacking = needs === null || needs === 'media' || needs === kind ? [] : [`${needs}_missing`]
      const expectOf = (media: ReturnType<typeof asset>[], ...more: string[]) =>
        expect(codes(platform, media)).toEqual([...lacking, ...more])
      if (limits === null) {
        expectOf([make(0)], 'media_kind')
        continue
      }
      expectOf(many(limits.countMax, make))
      expectOf(many(limits.countMax + 1, make), `too_many_${kind}s`)
      expectOf([make(0, { size_bytes: limits.bytesMax })])
      expectOf([make(0, { size_bytes: limits.bytesMax + 1 })], 'media_too_large')
      for (const type of kind === 'image' ? ['image/jpeg', 'image/png'] : ['video/mp4', 'video/quicktime'])
        expectOf([make(0, { content_type: type })], ...(limits.contentTypes.includes(type) ? [] : ['media_kind']))
    }
  })

  if (image && video)
    test('takes images and videos together as it says', () => {
      const both = codes(platform, [asset(0), film(1)])
      expect(both).toEqual(mixedMax === null ? ['media_mixed'] : [])
      if (mixedMax === null || mixedMax < 3) return
      const mixed = (images: number) => [...many(images), film(images)]
      expect(codes(platform, mixed(mixedMax - 1))).toEqual([])
      expect(codes(platform, mixed(mixedMax))).toEqual(['too_many_media'])
    })

  if (image && altTextLengthMax !== null)
    test('takes alternative texts as long as it says, and misses one', () => {
      expect(codes(platform, [asset(0, { alt_text: '🙂'.repeat(altTextLengthMax!) })])).toEqual([])
      const tooLong = asset(0, { alt_text: 'a'.repeat(altTextLengthMax! + 1) })
      expect(codes(platform, [tooLong])).toEqual(['alt_text_too_long'])
      expect(codes(platform, [asset(0, { alt_text: '' })])).toEqual(['alt_text_missing'])
    })
})

test('the dashboard knows the networks that take no PNG', () => {
  const withoutPng = platforms.filter((platform) => {
    const { image } = providers[platform]
    return image !== null && !image.contentTypes.includes('image/png')
  })
  expect(jpegPlatforms).toEqual(withoutPng)
})

test('images that Instagram would refuse or crop are told of, those of unknown size are not', () => {
  const codesOf = (width: number | null, height: number | null) => codes('instagram', [asset(0, { width, height })])
  expect([codesOf(400, 500), codesOf(191, 100), codesOf(100, 100), codesOf(null, null)]).toEqual([[], [], [], []])
  expect([codesOf(399, 500), codesOf(192, 100)]).toEqual([['image_shape'], ['image_shape']])
  expect(codes('instagram', [asset(0, {}), asset(1, { width: 399, height: 500 })])).toEqual(['image_cropped'])
})

test('Instagram takes so many hashtags and mentions: each counts once, and none in a link', () => {
  const codesOf = (...words: string[]) => codes('instagram', [asset(0)], words.join(' '))
  const signs = (sign: string, count: number) => Array.from({ length: count }, (_, at) => `${sign}w${at}`)
  const others = ['#W1', '@w1.', '#2026', '#️⃣', 'a@b.c', 'https://e.x/@ann#f']
  expect(codesOf(...signs('#', 30), ...signs('@', 20), ...others)).toEqual([])
  expect(codesOf(signs('#', 31).join(''))).toEqual(['too_many_hashtags'])
  expect(codesOf(...signs('@', 21))).toEqual(['too_many_mentions'])
})

test('Telegram takes a shorter caption under media, and no image whose sides are too long', () => {
  const codesOf = (length: number, media: ReturnType<typeof asset>[]) => codes('telegram', media, 'a'.repeat(length))
  expect([codesOf(1024, [asset(0)]), codesOf(1025, [asset(0)]), codesOf(4096, [])]).toEqual([
    [],
    ['caption_too_long'],
    [],
  ])
  const sized = (width: number, height: number) => codes('telegram', [asset(0, { width, height }), asset(1)])
  expect([sized(5000, 5000), sized(200, 10)]).toEqual([[], []])
  expect([sized(5001, 5000), sized(10, 201)]).toEqual([['image_shape'], ['image_shape']])
  const large = (platform: Platform, width: number) => codes(platform, [asset(0, { width, height: 6000 })])
  expect([large('mastodon', 5529), large('mastodon', 5530)]).toEqual([[], ['image_shape']])
  expect([large('linkedin', 6025), large('linkedin', 6026)]).toEqual([[], ['image_shape']])
})

test('Threads counts links without their scheme as well, each once', () => {
  const links = (count: number) => Array.from({ length: count }, (_, at) => `www.w${at}.example`).join(', ')
  const others = 'https://www.w0.example ann@www.example.com (www.w1.example).'
  expect([links(5), links(6)].map((text) => codes('threads', [], `${text} ${others}`))).toEqual([
    [],
    ['too_many_links'],
  ])
})

test('an account whose calls fail is told of with what it says, and stops nothing', () => {
  const { issues, targets } = judgeReadiness({
    baseCaption: 'a',
    firstComment: null,
    thread: [],
    media: [],
    captions: new Map(),
    accounts: [account('x', { health_status: 'error', health_message: 'Token expired', at: 3, id: 9 })],
  })
  expect(issues).toEqual([
    {
      loc: ['body', 'social_account_ids', 3],
      code: 'account_unhealthy',
      message: 'Token expired',
      platform: 'x',
      accountId: 9,
      input: 9,
    },
  ])
  expect(targets.map(({ isValid }) => isValid)).toEqual([true])
})

test('a text is counted once for all accounts of a platform', () => {
  const accounts = [1, 2, 3].map((id) => account('x', { id, at: id - 1 }))
  const counting = vi.spyOn(captionCountings, 'x')
  const content = { baseCaption: 'a'.repeat(281), firstComment: null, media: [], captions: new Map() }
  const { issues, targets } = judgeReadiness({ ...content, accounts, thread: ['b', 'c'].map(partOf) })
  expect(counting.mock.calls.map(([text]) => text)).toEqual([content.baseCaption, 'b', 'c'])
  counting.mockRestore()
  expect(issues.map(({ code, accountId }) => [code, accountId])).toEqual(
    [1, 2, 3].map((id) => ['caption_too_long', id]),
  )
  expect(targets.map(({ characterCount, thread }) => [characterCount, thread.length])).toEqual(Array(3).fill([281, 2]))
})
