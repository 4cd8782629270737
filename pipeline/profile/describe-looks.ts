/** Describes a company's look and channels: colours, fonts, logo, social accounts. */
import type { OwnSignals } from '../../postgres/tables/workspaces/profile-signals.ts'
import { isObject } from '../../schemas/json-object.ts'
import { profileListMax, profileSignalDays } from '../../schemas/limits/profile-limits.ts'
import type { Evidence, GeneratedProfile } from '../../schemas/resources/company-profile.ts'
import { first, quoted } from './quoted.ts'
import type { Page } from './read-page.ts'
import { type Looks, sixDigits } from './read-style.ts'

const socialHosts: ReadonlyMap<string, string> = new Map([
  ['x.com', 'x'],
  ['twitter.com', 'x'],
  ['linkedin.com', 'linkedin'],
  ['facebook.com', 'facebook'],
  ['instagram.com', 'instagram'],
  ['youtube.com', 'youtube'],
  ['tiktok.com', 'tiktok'],
  ['bsky.app', 'bluesky'],
  ['mastodon.social', 'mastodon'],
  ['threads.net', 'threads'],
  ['threads.com', 'threads'],
  ['pinterest.com', 'pinterest'],
  ['t.me', 'telegram'],
  ['discord.gg', 'discord'],
])

/** @param evidence is added to */
export function describeLooks(
  pages: readonly Page[],
  sheets: readonly Looks[],
  evidence: Evidence[],
): GeneratedProfile['visual_identity'] {
  const themed = pages.flatMap((page) =>
    [...page.meta].filter(([name]) => name === 'theme-color').map(([, color]) => ({ color, page })),
  )
  const all: readonly Looks[] = [...pages, ...sheets]
  const most = (of: (looks: Looks) => ReadonlyMap<string, number>, field: string) => {
    const counts = new Map<string, number>()
    for (const one of all) for (const [key, n] of of(one)) counts.set(key, (counts.get(key) ?? 0) + n)
    const keys = [...counts]
      .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, profileListMax)
      .map(([key]) => key)
    for (const key of keys) {
      const { url } = all.find((one) => of(one).has(key))!
      evidence.push({ field, quote: key, source_url: url })
    }
    return keys
  }
  const colors = most((page) => page.colors, 'visual_identity.colors')
  for (const { color, page } of themed) {
    if (!/^#(?:[\da-f]{6}|[\da-f]{3})$/i.test(color)) continue
    const written = sixDigits(color.toLowerCase())
    if (colors.includes(written)) continue
    colors.unshift(written)
    evidence.push({ field: 'visual_identity.colors', quote: color, source_url: page.url })
  }
  const logo = first(pages, (page) => {
    const named = page.data.map((one) => one['logo']).map((one) => (isObject(one) ? one['url'] : one))
    const address = named.find((one): one is string => typeof one === 'string' && /^https?:\/\//.test(one)) ?? page.logo
    return quoted(page, address)
  })
  if (logo !== undefined) evidence.push({ field: 'visual_identity.logo_url', quote: logo.quote, source_url: logo.url })
  const scheme = first(pages, (page) => quoted(page, page.meta.get('color-scheme')))
  const theme = (['dark', 'light'] as const).find((name) => scheme?.text.replace('only ', '').startsWith(name)) ?? ''
  if (theme !== '') evidence.push({ field: 'visual_identity.theme', quote: scheme!.quote, source_url: scheme!.url })
  return {
    colors: colors.slice(0, profileListMax),
    fonts: most((page) => page.fonts, 'visual_identity.fonts'),
    logo_url: logo?.text ?? null,
    theme,
  }
}

/** @param evidence is added to */
export function describePosture(
  pages: readonly Page[],
  own: OwnSignals,
  evidence: Evidence[],
): GeneratedProfile['social_posture'] {
  const platforms = new Set(own.platforms)
  for (const quote of platforms) {
    evidence.push({ field: 'social_posture.platforms', quote, source_url: '/v1/social-accounts' })
  }
  for (const page of pages) {
    for (const link of page.links) {
      const platform = socialHosts.get(new URL(link).hostname.replace(/^(?:www|m|[a-z]{2}(?:-[a-z]{2})?)\./, ''))
      if (platform === undefined || platforms.has(platform)) continue
      platforms.add(platform)
      evidence.push({ field: 'social_posture.platforms', quote: link, source_url: page.url })
    }
  }
  if (own.posts > 0)
    evidence.push({ field: 'social_posture', quote: own.caption.slice(0, 200), source_url: '/v1/posts' })
  for (const quote of own.tags) evidence.push({ field: 'social_posture.top_tags', quote, source_url: '/v1/posts' })
  const weekly = Math.round((own.posts / (profileSignalDays / 7)) * 100) / 100
  const counted = `${own.posts} ${own.posts === 1 ? 'post' : 'posts'} published in ${profileSignalDays} days`
  return {
    platforms: [...platforms].sort(),
    summary: own.posts === 0 ? '' : `${[counted, own.postPlatforms.join(', ')].filter(Boolean).join(', on ')}.`,
    posting_frequency_per_week: weekly,
    top_tags: [...own.tags],
  }
}
