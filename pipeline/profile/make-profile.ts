/**
 * A company profile from pages and the workspace's own data. It is a pure function: every statement is quoted, and the
 * same pages give the same profile. See docs/company-profile.md for each field's origin and the formula of confidence.
 */
import type { OwnSignals } from '../../postgres/tables/workspaces/profile-signals.ts'
import { isObject } from '../../schemas/json-object.ts'
import { contextLengthMax, profileFeaturesMax, profileListMax } from '../../schemas/limits/profile-limits.ts'
import type { Evidence, GeneratedProfile } from '../../schemas/resources/company-profile.ts'
import { describeLooks, describePosture } from './describe-looks.ts'
import { describeTone } from './describe-tone.ts'
import { distinct, first, type Quoted, quoted } from './quoted.ts'
import type { Page } from './read-page.ts'
import type { Looks } from './read-style.ts'

interface Audience {
  /** In the last days: the pages with the most views, and the sources with the most visitors. */
  readonly pages: readonly string[]
  readonly sources: readonly string[]
}

export interface ProfileInput {
  readonly pages: readonly Page[]
  /** From the style sheets that they link. */
  readonly sheets: readonly Looks[]
  /** Sources that were asked for, whether or not they could be read. */
  readonly sources: number
  readonly own: OwnSignals
  readonly visits: Audience
}

const organizations: ReadonlySet<unknown> = new Set([
  'Organization',
  'Corporation',
  'LocalBusiness',
  'OnlineStore',
  'Store',
  'WebSite',
  'SoftwareApplication',
  'Brand',
])
const featureHeading = /feature|capabilit|what you get|what's included|how it works|機能|特長|特徴|できること/i
const sideHeading =
  /^(faq|questions|pricing|contact|newsletter|blog|about|sign up|log in|imprint|privacy|terms|cookies?|menu|cart|search|related|comments?|料金|お問い合わせ)\b/i
const actionWords =
  /\b(get|start|try|sign up|buy|shop|book|order|download|subscribe|join|request|contact|learn|see|add to|create)\b|はじめる|始める|申し込|登録|購入|お試し|ダウンロード|問い合わせ/i
const audiencePhrases = [
  /\b(?:built|made|designed|crafted|perfect|ideal|software|platform|tools?|app|analytics|solution|shop|store|everything)\s+for\s+((?:[\p{L}\d&'’-]+\s?){1,8})/iu,
  /([^\s。、「」]{2,24})向け/u,
]
export function makeProfile({ pages, sheets, sources, own, visits }: ProfileInput): GeneratedProfile {
  const evidence: Evidence[] = []
  const claim = (field: string, said: Quoted | undefined): string => {
    if (said !== undefined) evidence.push({ field, quote: said.quote, source_url: said.url })
    return said?.text ?? ''
  }
  const claims = (field: string, all: readonly Quoted[], most: number): string[] =>
    distinct(all)
      .slice(0, most)
      .map((said) => claim(field, said))

  const summary = claim('summary', first(pages, ofDescription) ?? first(pages, ofParagraph))
  const audience = claim('audience', first(pages, ofAudience))
  const headline = first(pages, (page) => quoted(page, page.headings.find(({ level }) => level === 1)?.text))
  const positioning = claim(
    'positioning',
    headline ?? first(pages, (page) => quoted(page, page.meta.get('og:title') ?? page.title)),
  )
  const features = claims('feature_set', pages.flatMap(ofFeatures), profileFeaturesMax)
  const messages = pages.flatMap(ofMessages).filter(({ text }) => !features.includes(text))
  const value_props = claims('value_props', messages, profileListMax)
  const messaging = {
    headline: claim('messaging.headline', headline),
    tagline: claim('messaging.tagline', first(pages, ofTagline)),
    key_messages: claims('messaging.key_messages', messages, 5),
    calls_to_action: claims('messaging.calls_to_action', pages.flatMap(ofActions), profileListMax),
  }
  const tone = describeTone(pages)
  for (const { quote, url } of tone.evidence) evidence.push({ field: 'tone', quote, source_url: url })
  const visual_identity = describeLooks(pages, sheets, evidence)
  const social_posture = describePosture(pages, own, evidence)
  const listed = (quotes: readonly string[], source_url: string) => {
    for (const quote of new Set(quotes)) if (quote !== '') evidence.push({ field: 'context_text', quote, source_url })
  }
  listed(own.links, '/v1/links')
  listed([...visits.pages, ...visits.sources], '/v1/analytics/overview')
  const profile = {
    summary,
    audience,
    positioning,
    value_props,
    feature_set: features,
    messaging,
    tone: { label: tone.label, traits: [...tone.traits] },
    visual_identity,
    social_posture,
    evidence,
  }
  return {
    ...profile,
    confidence: confidenceOf(profile, { read: pages.length, sources }),
    context_text: contextOf(profile, own, visits),
  }
}

function ofDescription(page: Page): Quoted | undefined {
  const companies = page.data.filter((one) => [one['@type']].flat().some((type) => organizations.has(type)))
  const described = companies.map(({ description }) => (typeof description === 'string' ? oneLine(description) : ''))
  // Sites without a slogan have an empty one.
  const own = described.find((text) => text !== '')
  return quoted(page, own ?? page.meta.get('description') ?? page.meta.get('og:description'))
}

function ofParagraph(page: Page): Quoted | undefined {
  return quoted(
    page,
    page.paragraphs.find((text) => text.length >= 40),
  )
}

function ofTagline(page: Page): Quoted | undefined {
  const described = page.meta.get('og:description') ?? page.meta.get('twitter:description')
  return quoted(
    page,
    described !== undefined && described.length <= 160
      ? described
      : page.paragraphs.find((text) => text.length >= 20 && text.length <= 160),
  )
}

function ofAudience(page: Page): Quoted | undefined {
  for (const one of page.data) {
    const audience = one['audience']
    const type = isObject(audience) ? audience['audienceType'] : undefined
    if (typeof type === 'string' && type !== '') return quoted(page, oneLine(type))
  }
  const texts = [
    page.title,
    ...page.meta.values(),
    ...page.headings.map(({ text }) => text),
    ...page.paragraphs.slice(0, 5),
  ]
  for (const text of texts) {
    for (const phrase of audiencePhrases) {
      const found = phrase.exec(text)?.[1]?.trim()
      if (found !== undefined && !/^(free|you|more|less|the|a|an|every|all|any|example|your|what)$/i.test(found))
        return quoted(page, found, text)
    }
  }
  return undefined
}

function ofFeatures(page: Page): Quoted[] {
  const listed = page.data.flatMap((one) => {
    const names = [one['featureList']].flat()
    const product = [one['@type']].flat().includes('Product') ? [one['name']] : []
    return [...names, ...product].filter((name): name is string => typeof name === 'string' && name !== '').map(oneLine)
  })
  const items = page.headings.filter(({ text }) => featureHeading.test(text)).flatMap((heading) => heading.items)
  return [...listed, ...items].flatMap((text) => quoted(page, text) ?? [])
}

function ofMessages(page: Page): Quoted[] {
  const texts = page.headings
    .filter(
      ({ level, text }) =>
        level === 2 && text.length >= 4 && text.length <= 120 && !sideHeading.test(text) && !featureHeading.test(text),
    )
    .map(({ text }) => text)
  return texts.flatMap((text) => quoted(page, text) ?? [])
}

function ofActions(page: Page): Quoted[] {
  return page.actions
    .filter((text) => text.length <= 40 && actionWords.test(text))
    .flatMap((text) => quoted(page, text) ?? [])
}

type Described = Omit<GeneratedProfile, 'confidence' | 'context_text'>

/** Weights of the fields that can be known; they add up to 1. */
const weights: readonly (readonly [number, (profile: Described) => boolean])[] = [
  [0.2, ({ summary }) => summary !== ''],
  [0.15, ({ audience }) => audience !== ''],
  [0.15, ({ messaging }) => messaging.headline !== ''],
  [0.15, ({ value_props }) => value_props.length > 0],
  [0.15, ({ feature_set }) => feature_set.length > 0],
  [0.05, ({ messaging }) => messaging.calls_to_action.length > 0],
  [0.05, ({ visual_identity: { colors, fonts, logo_url } }) => colors.length + fonts.length > 0 || logo_url !== null],
  [0.1, ({ social_posture }) => social_posture.platforms.length > 0 || social_posture.posting_frequency_per_week > 0],
]

function confidenceOf(profile: Described, { read, sources }: { read: number; sources: number }): number {
  const known = weights.reduce((sum, [weight, isKnown]) => sum + (isKnown(profile) ? weight : 0), 0)
  return Math.round(known * (sources === 0 ? 1 : read / sources) * 100) / 100
}

function contextOf(profile: Described, own: OwnSignals, visits: Audience): string {
  const { summary, audience, positioning, value_props, feature_set, messaging, tone, social_posture } = profile
  const lines = [
    ['Summary', summary],
    ['Positioning', positioning],
    ['Audience', audience],
    ['Value', value_props.join('; ')],
    ['Features', feature_set.join('; ')],
    ['Calls to action', messaging.calls_to_action.join('; ')],
    ['Tone', [tone.label, ...tone.traits].filter((text) => text !== '').join(', ')],
    ['Social', [social_posture.platforms.join(', '), social_posture.summary].filter((text) => text !== '').join('. ')],
    ['Tags', social_posture.top_tags.join(', ')],
    ['Tracked links', own.links.join('; ')],
    ['Most viewed pages', visits.pages.join(', ')],
    ['Visitors come from', visits.sources.join(', ')],
  ]
  const text = lines
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
  return text.length > contextLengthMax ? `${text.slice(0, contextLengthMax - 1)}…` : text
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 400)
}
