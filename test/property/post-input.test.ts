import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readChoice, targetsOf } from '../../authoring/posts/choice.ts'
import { errorsAmong } from '../../authoring/posts/issue.ts'
import { judgeReadiness } from '../../authoring/posts/readiness.ts'
import type { Queryable } from '../../postgres/client.ts'
import { parsePart } from '../../schemas/errors/zod-errors.ts'
import { captionCountings } from '../../schemas/reference/caption-lengths.ts'
import { captionLengthMaxOf, platforms, providers } from '../../schemas/reference/providers.ts'
import { PostCreate } from '../../schemas/resources/post.ts'

const plain = { title: 'T', base_caption: 'C' }
const tagsOf = (tags: unknown) => parsePart('body', PostCreate, { ...plain, tags })

const text = fc.string({ unit: fc.constantFrom('a', 'b', '#', ' ', '🙂', 'é'), maxLength: 62 })

test('tags are those that were sent, without signs in front and repeats, in their order', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 40 }), (sent) => {
      const bare = sent.map((tag) => tag.slice(tag.search(/[^#]|$/)))
      const isGood = new Set(bare).size <= 30 && bare.every((tag) => tag !== '' && [...tag].length <= 60)
      const parsed = tagsOf(sent)
      expect(parsed.ok).toBe(isGood)
      if (!parsed.ok) return
      const { tags } = parsed.value
      expect(tags).toEqual(bare.filter((tag, at) => bare.indexOf(tag) === at))
      // An answer can be sent again, and stays.
      expect(tagsOf(tags)).toMatchObject({ ok: true, value: { tags } })
    }),
  )
})

interface Row {
  readonly id: number
  readonly platform: string
  readonly status: string
}

/** Answers as the tables would: those rows whose ids are asked for. */
function tablesOf(accounts: readonly Row[], media: readonly object[]): Queryable {
  return {
    query: async (sql: string, [, ids]: unknown[] = []) => {
      const rows = sql.includes('social_accounts') ? accounts : media
      return rows.filter((row) => (ids as number[]).includes((row as Row).id)) as never
    },
  }
}

const arbitraryAccounts = fc
  .array(fc.record({ platform: fc.constantFrom(...platforms), status: fc.constantFrom('connected', 'expired') }), {
    maxLength: 6,
  })
  .map((rows) => rows.map((row, at) => ({ ...row, id: at + 1, health_status: 'ok', health_message: '' })))
const arbitraryMedia = fc
  .array(
    fc.record({
      content_type: fc.constantFrom('image/jpeg', 'image/png', 'video/mp4', 'video/quicktime'),
      size_bytes: fc.constantFrom(1, 900_000, 9_000_000, 90_000_000),
      alt_text: fc.constantFrom('', 'x', 'x'.repeat(600)),
      width: fc.constantFrom(null, 100, 1000),
      height: fc.constantFrom(null, 100, 1000),
    }),
    { maxLength: 6 },
  )
  .map((rows) => rows.map((row, at) => ({ ...row, id: at + 1 })))
const ids = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 8 })
const captions = fc.dictionary(fc.constantFrom(...platforms, 'other'), fc.constantFrom('', 'short', 'x'.repeat(400)))

const choose = (
  accounts: readonly Row[],
  media: readonly object[],
  chosen: Pick<Parameters<typeof readChoice>[2], 'accountIds' | 'mediaIds' | 'captions'>,
) => readChoice(tablesOf(accounts, media), 1, { ...chosen, thread: [] })

test('what is chosen is each id once, found or told at the place where it first stood', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryAccounts, arbitraryMedia, ids, ids, captions, async (accounts, media, a, m, c) => {
      const choice = await choose(accounts, media, { accountIds: a, mediaIds: m, captions: c })
      for (const [sent, rows, found, code] of [
        [a, accounts, choice.accounts, 'account_not_found'],
        [m, media, choice.media, 'media_not_found'],
      ] as const) {
        const isThere = (id: number) => rows.some((row) => row.id === id)
        const first = sent.map((id, at) => ({ id, at })).filter(({ id }, at) => sent.indexOf(id) === at)
        expect(found.map(({ id, at }) => ({ id, at }))).toEqual(first.filter(({ id }) => isThere(id)))
        const missing = choice.unknown.filter((issue) => issue.code === code).map(({ loc }) => loc.at(-1))
        expect(missing).toEqual(first.filter(({ id }) => !isThere(id)).map(({ at }) => at))
      }
      const chosen = new Set<string>(choice.accounts.map(({ platform }) => platform))
      const strays = choice.unknown.filter(({ code }) => code === 'platform_not_chosen').map(({ loc }) => loc.at(-1))
      expect(strays).toEqual(Object.keys(c).filter((platform) => !chosen.has(platform)))
      for (const [at, { captionOverride }] of targetsOf(choice).entries()) {
        expect(captionOverride).toBe(c[choice.accounts[at]!.platform] || null)
      }
    }),
  )
})

test('a post is ready where an account is connected and every platform alone takes it, whatever its order', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryAccounts, arbitraryMedia, ids, ids, captions, async (accounts, media, a, m, c) => {
      const choice = await choose(accounts, media, { accountIds: a, mediaIds: m, captions: c })
      const content = { ...choice, baseCaption: 'base', firstComment: 'c'.repeat(1300) }
      const { issues, targets } = judgeReadiness(content)
      const isReady = errorsAmong(issues).length === 0
      const alone = choice.accounts.map((account) => judgeReadiness({ ...content, accounts: [account] }))
      const isTakenBy = alone.map((one) => errorsAmong(one.issues).every(({ code }) => code === 'no_connected_account'))
      const isConnected = choice.accounts.map(({ status }) => status === 'connected')
      expect(isReady).toBe(isConnected.includes(true) && !isTakenBy.includes(false))
      expect(targets.map(({ isValid }) => isValid)).toEqual(isTakenBy.map((taken, at) => taken && isConnected[at]!))
      for (const { account, caption, characterCount } of targets) {
        const provider = providers[account.platform]
        const { captionCounting, captionBytesMax } = provider
        expect(characterCount).toBe(captionCountings[captionCounting](caption))
        const isHeavy = captionBytesMax !== null && Buffer.byteLength(caption) > captionBytesMax
        const isTooLong = issues.some(({ code, accountId }) => code === 'caption_too_long' && accountId === account.id)
        expect(isTooLong).toBe(characterCount > captionLengthMaxOf(provider, choice.media.length) || isHeavy)
      }
      const reversed = judgeReadiness({ ...content, accounts: [...choice.accounts].reverse() })
      expect(errorsAmong(reversed.issues).length).toBe(errorsAmong(issues).length)
    }),
  )
})
