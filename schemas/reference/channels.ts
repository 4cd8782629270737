/**
 * The channel group of a source. These are the default channel groups of Google Analytics 4, in their order, as far as
 * source and medium decide them, plus AI Assistants. A campaign's name isn't looked at. The one table of sources has
 * each source's kind. Definitions: https://support.google.com/analytics/answer/9756891.
 */
import type { SourceKind } from './mediums.ts'
import { kindOfSource } from './sources.ts'

interface Origin {
  readonly source: string
  readonly medium: string
  readonly kind: SourceKind | undefined
  readonly isPaid: boolean
}

const paidMedium = /^(.*cp.*|ppc|retargeting|paid.*)$/
const directSources = new Set(['direct', '(direct)'])
const noMedia = new Set(['', 'none', '(none)', '(not set)'])
const displayMedia = new Set(['display', 'banner', 'expandable', 'interstitial', 'cpm'])
const socialMedia = new Set(['social', 'social-network', 'social-media', 'sm', 'social network', 'social media'])
const assistantMedia = new Set(['ai', 'ai_assistant', 'ai-assistant', 'ai assistant'])
const referralMedia = new Set(['referral', 'app', 'link'])
const emailNames = new Set(['email', 'e-mail', 'e_mail', 'e mail'])

/** The first that fits. */
const groups: readonly (readonly [string, (origin: Origin) => boolean])[] = [
  ['Direct', ({ source, medium }) => directSources.has(source) && noMedia.has(medium)],
  ['Cross-network', ({ medium }) => medium.includes('cross-network')],
  ['Paid Shopping', ({ kind, isPaid }) => isPaid && kind === 'shop'],
  ['Paid Search', ({ kind, isPaid }) => isPaid && (kind === 'search' || kind === 'searchAd')],
  ['Paid Social', ({ kind, isPaid }) => isPaid && kind === 'social'],
  ['Paid Video', ({ kind, isPaid }) => isPaid && kind === 'video'],
  ['Display', ({ kind, medium }) => displayMedia.has(medium) || kind === 'displayAd'],
  ['Paid Other', ({ isPaid }) => isPaid],
  ['AI Assistants', ({ kind, medium }) => kind === 'assistant' || assistantMedia.has(medium)],
  ['Organic Shopping', ({ kind }) => kind === 'shop'],
  ['Organic Social', ({ kind, medium }) => kind === 'social' || socialMedia.has(medium)],
  ['Organic Video', ({ kind, medium }) => kind === 'video' || medium.includes('video')],
  ['Organic Search', ({ kind, medium }) => kind === 'search' || medium === 'organic'],
  ['Referral', ({ medium }) => referralMedia.has(medium)],
  ['Email', ({ source, kind, medium }) => kind === 'email' || emailNames.has(source) || emailNames.has(medium)],
  ['Affiliates', ({ medium }) => medium === 'affiliate'],
  ['Audio', ({ medium }) => medium === 'audio'],
  ['SMS', ({ source, medium }) => source === 'sms' || medium === 'sms'],
  [
    'Mobile Push Notifications',
    ({ source, medium }) => source === 'firebase' || /push$|mobile|notification/.test(medium),
  ],
]

const unassigned = 'Unassigned'

/** All that `channelOf` gives. */
export const channels: readonly string[] = [...groups.map(([name]) => name), unassigned]

/** `Unassigned` where no group fits. */
export function channelOf(source: string, medium: string): string {
  const [ourSource, ourMedium] = [source.trim().toLowerCase(), medium.trim().toLowerCase()]
  const origin = {
    source: ourSource,
    medium: ourMedium,
    kind: kindOfSource(ourSource),
    isPaid: paidMedium.test(ourMedium),
  }
  return groups.find(([, fits]) => fits(origin))?.[0] ?? unassigned
}
