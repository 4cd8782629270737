import { expect, test } from 'vitest'
import { issueCodes, severityOf } from '../../api/operations/posts/issue.ts'
import {
  postAccountsMax,
  postBaseCaptionLengthMax,
  postCaptionOverrideLengthMax,
  postMediaMax,
  postPlatformCaptionsMax,
  postTagLengthMax,
  postTagsMax,
  postTitleLengthMax,
  socialAccountsMax,
} from '../../schemas/limits/api-limits.ts'
import { type KindLimits, providers } from '../../schemas/reference/providers.ts'
import { PostCreate, postStatuses, targetStatuses } from '../../schemas/resources/post.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const page = readDoc('docs/posts.md')
const number = (value: number) => value.toLocaleString('en-US')

test('docs/posts.md has what each platform takes, as the table of providers says', () => {
  const size = (bytes: number) => (bytes >= 1e9 ? `${bytes / 1e9} GB` : `${bytes / 1e6} MB`)
  const kind = (limits: KindLimits | null) =>
    limits === null ? 'none' : `${limits.countMax} of ${size(limits.bytesMax)}`
  const needed = { media: 'an image or a video', image: 'an image', video: 'a video', nothing: '' }
  const meant = Object.entries(providers).map(([platform, provider]) => [
    `\`${platform}\``,
    number(provider.captionLengthMax),
    `\`${provider.captionCounting}\`${provider.captionBytesMax === null ? '' : `, ${number(provider.captionBytesMax)} bytes`}`,
    needed[provider.needs ?? 'nothing'],
    kind(provider.image),
    kind(provider.video),
    provider.image && provider.video ? String(provider.mixedMax ?? 'no') : '',
    provider.altTextLengthMax === null ? '' : number(provider.altTextLengthMax),
  ])
  expect(tableOf(page, '## Readiness')).toEqual(meant)
})

test('docs/posts.md has every code of an issue with its severity, and no other', () => {
  const shown = page.match(/^\| `\w+` \| (error|warning) \|/gm)
  expect(shown).toEqual(issueCodes.map((code) => `| \`${code}\` | ${severityOf(code)} |`))
})

test('docs/posts.md has the fields of a post with their bounds', () => {
  const rows = tableOf(page, '## Fields')
  expect(rows.map(([field]) => field)).toEqual(Object.keys(PostCreate.shape).map((field) => `\`${field}\``))
  const bounds = Object.fromEntries(rows.map(([field, takes]) => [field!.replaceAll('`', ''), takes!]))
  expect(bounds).toMatchObject({
    title: `1–${number(postTitleLengthMax)} characters`,
    base_caption: `1–${number(postBaseCaptionLengthMax)} characters`,
    tags: `at most ${postTagsMax}, each of 1–${postTagLengthMax} characters`,
    media_ids: `at most ${postMediaMax}`,
    social_account_ids: `at most ${postAccountsMax}`,
    platform_captions: `a caption by platform, each of at most ${number(postCaptionOverrideLengthMax)} characters, at most ${postPlatformCaptionsMax}`,
  })
  expect(page).toContain(`A workspace has at most ${socialAccountsMax}.`)
})

test('docs/posts.md names every status of posts and targets', () => {
  for (const status of [...postStatuses, ...targetStatuses]) expect(page).toContain(`\`${status}\``)
})
