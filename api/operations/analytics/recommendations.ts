/**
 * Advice from the figures, by fixed rules: the same figures give the same advice. Each rule is silent below a number of
 * cases from which nothing can be concluded, and each detail names the figures it was drawn from.
 */
import type { OverviewFigures } from '../../../clickhouse/queries/overview/read-overview.ts'
import type { RevenueByKey, RevenueFigures } from '../../../postgres/tables/revenue/revenue-figures.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { decimalsOf } from '../../../schemas/reference/currencies.ts'
import { mediums } from '../../../schemas/reference/mediums.ts'
import { rateVital, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { OverviewMetrics, Recommendation as RecommendationSchema } from '../../../schemas/resources/overview.ts'
import { dayMs } from '../../../schemas/time/time-zone.ts'
import { perCent } from './metrics.ts'
import { worstVital } from './web-vitals.ts'

type Recommendation = ReturnType<(typeof RecommendationSchema)['parse']>
export type AdviceFigures = Pick<OverviewFigures, 'sources' | 'devices' | 'pages' | 'pageVitals'> & {
  readonly metrics: OverviewMetrics
  /** Whether any event ever came, readable or not. */
  readonly hasEvents: boolean
  /** False while the range goes on, or figures lag behind it: the period that it is compared with had more time. */
  readonly isOver: boolean
  readonly revenue: Pick<RevenueFigures, 'sources' | 'devices'>
  /** The workspace's. */
  readonly currency: string
}

/** Visitors, sessions or pageviews below which a rate says nothing. */
const casesMin = 10
/** Paid clicks below which missing revenue says nothing. */
const clicksMin = 100
/** Less time may have no pageviews, or no conversions, by chance: at night, or where few visitors convert. */
const pageviewsMs = dayMs
const conversionsMs = 7 * dayMs
/** Shorter ranges have other hours and weekdays than the period before. Seven days up to now are six and a part. */
const comparedMs = 6 * dayMs
const vitalSamplesMin = 5
const conversionsMin = 3
/** A page is busy with this share of all pageviews. */
const busyPercent = 5
const bouncePercent = 70
const fallPercent = 30
/** Visitors below which a share of them says nothing. */
const shareCasesMin = 50
const directPercent = 60
const assistantsPercent = 5
/** Converts worse: with less than this part of the average. */
const weakPart = 0.5
/** Devices of people. Conversions that a server sends have another device. */
const comparedDevices = new Set(['desktop', 'mobile', 'tablet'])
/** Advice from one rule: a list of everything is no advice. */
const adviceEachMax = 3

const rules = [
  noPageviews,
  fallOfVisitors,
  fallOfConversions,
  poorVitals,
  noConversions,
  bouncingPages,
  weakDevices,
  idleCampaigns,
  convertingSources,
  untaggedLinks,
  assistants,
]
const priorities = ['high', 'medium', 'low'] as const

export function recommend(figures: AdviceFigures): Recommendation[] {
  if (!figures.hasEvents) return [noEvents]
  const advice = rules.flatMap((rule) => rule(figures).slice(0, adviceEachMax))
  return priorities.flatMap((priority) => advice.filter((recommendation) => recommendation.priority === priority))
}

/** Nothing else is said then. */
const noEvents: Recommendation = {
  title: 'Install the tracking snippet',
  detail: '0 events have arrived so far. Put the snippet into the head of every page, then open your site once.',
  priority: 'high',
}

function noPageviews({ metrics }: AdviceFigures): Recommendation[] {
  const { events, pageviews, previous } = metrics
  const wereSeen = pageviews > 0 || (previous?.pageviews ?? 0) > 0
  if (events === 0 || wereSeen || countedMs(metrics) < pageviewsMs) return []
  const detail = `${counted(events, 'event')} arrived, and 0 pageviews: the snippet isn't on your pages.`
  return [{ title: 'The tracking snippet was not seen', detail, priority: 'high' }]
}

function fallOfVisitors({ isOver, metrics }: AdviceFigures): Recommendation[] {
  const { visitors, previous, range } = metrics
  if (!isOver || lengthOf(range) < comparedMs || previous === null || previous.visitors < casesMin) return []
  const fall = perCent(previous.visitors - visitors, previous.visitors)
  if (fall < fallPercent) return []
  const detail = `${counted(visitors, 'visitor')} came, after ${shown(previous.visitors)} in the period it is compared with.`
  return [{ title: `Visitors fell by ${fall} %`, detail, priority: 'high' }]
}

function fallOfConversions({ isOver, metrics }: AdviceFigures): Recommendation[] {
  const { conversions, previous, range } = metrics
  if (!isOver || lengthOf(range) < comparedMs || previous === null || previous.conversions < casesMin) return []
  const fall = perCent(previous.conversions - conversions, previous.conversions)
  if (fall < fallPercent) return []
  const detail = `${counted(conversions, 'conversion')} came, after ${shown(previous.conversions)} in the period it is compared with. Look whether the way to your goal still works.`
  return [{ title: `Conversions fell by ${fall} %`, detail, priority: 'high' }]
}

function poorVitals({ metrics, pageVitals }: AdviceFigures): Recommendation[] {
  return pageVitals.flatMap(({ path, pageviews, metrics: measured }) => {
    const metric = worstVital(measured)
    const { p75, count } = measured.get(metric)!
    const share = perCent(pageviews, metrics.pageviews)
    const isBusy = pageviews >= casesMin && share >= busyPercent
    if (!isBusy || count < vitalSamplesMin || rateVital(metric, p75) !== 'poor') return []
    const { label, unit, poor } = vitals[metric]
    const value = (of: number) => `${shown(of)}${unit === '' ? '' : ` ${unit}`}`
    const detail =
      `${label} (${metric}) of ${path} is ${value(p75)} at the 75th percentile of ${shown(count)} samples, ` +
      `where poor begins at ${value(poor)}. The page has ${shown(pageviews)} pageviews, ${share} % of all.`
    return [{ title: `Speed up ${path}`, detail, priority: 'high' }]
  })
}

function noConversions({ metrics }: AdviceFigures): Recommendation[] {
  const { visitors, conversions, previous } = metrics
  const wereSetUp = conversions > 0 || (previous?.conversions ?? 0) > 0
  if (visitors === 0 || wereSetUp || countedMs(metrics) < conversionsMs) return []
  const detail = `${counted(visitors, 'visitor')} came, and 0 conversions were recorded. Send one where a visitor reaches your goal.`
  return [{ title: 'Set up conversions', detail, priority: 'medium' }]
}

function bouncingPages({ pages }: AdviceFigures): Recommendation[] {
  return pages.flatMap(({ path, entries: sessions, bounces }) => {
    const rate = perCent(bounces, sessions)
    if (sessions < casesMin || rate <= bouncePercent) return []
    const detail = `${shown(bounces)} of ${shown(sessions)} sessions that entered on ${path} left at once: a bounce rate of ${rate} %.`
    return [{ title: `Visitors leave from ${path}`, detail, priority: 'medium' }]
  })
}

/** Only where the average would have brought enough conversions to tell, and most of them are of a device. */
function weakDevices({ metrics, devices }: AdviceFigures): Recommendation[] {
  const compared = devices.filter(({ key }) => comparedDevices.has(key))
  const all = { visitors: 0, conversions: 0 }
  for (const { visitors, conversions } of compared) {
    all.visitors += visitors
    all.conversions += conversions
  }
  if (2 * all.conversions < metrics.conversions) return []
  const average = perCent(all.conversions, all.visitors)
  const names = compared.map(({ key }) => key).join(', ')
  return compared.flatMap(({ key, visitors, conversions }) => {
    const rate = perCent(conversions, visitors)
    const isEnough = visitors * all.conversions >= casesMin * all.visitors
    const isWeak = conversions * all.visitors < weakPart * all.conversions * visitors
    if (!isEnough || !isWeak) return []
    const detail =
      `${counted(conversions, 'conversion')} of ${shown(visitors)} visitors on ${key}: ${rate} per 100, ` +
      `where ${average} per 100 is the average of ${names}. Try the way to your goal on such a device.`
    return [{ title: `Visitors on ${key} hardly convert`, detail, priority: 'medium' }]
  })
}

/** Ads that cost, were clicked, and are credited with no revenue, where most payers' sessions are known. */
function idleCampaigns({ currency, metrics, revenue }: AdviceFigures): Recommendation[] {
  const { ad_campaigns, revenue_cents, revenue_by_currency } = metrics
  const isKnown = 2 * (revenue.devices.get('unknown') ?? 0) < revenue_cents
  if (revenue_cents <= 0 || !isKnown || Object.keys(revenue_by_currency).length > 0) return []
  return ad_campaigns.flatMap(({ source, campaign, cost_cents, clicks, revenue_cents: earned }) => {
    const isIdle = cost_cents > 0 && clicks >= clicksMin && earned <= 0
    if (!isIdle || mayEarnByOtherNames(source, ad_campaigns, revenue.sources)) return []
    const detail =
      `${campaign} (${source}) cost ${shown(cost_cents / 10 ** decimalsOf(currency))} ${currency} for ${shown(clicks)} clicks, ` +
      'and no revenue is credited to it. Look at its landing page.'
    return [{ title: `The campaign ${campaign} earns nothing`, detail, priority: 'medium' }]
  })
}

/** Whether a source has revenue that none of its campaigns has. With automatic tags, or another spelling, it may be an ad's. */
function mayEarnByOtherNames(
  source: string,
  campaigns: OverviewMetrics['ad_campaigns'],
  revenue: RevenueByKey,
): boolean {
  let cents = 0
  for (const [key, earned] of revenue) {
    const [from, medium] = JSON.parse(key) as [string, string]
    if (from === source && medium !== mediums.organic) cents += earned
  }
  for (const one of campaigns) if (one.source === source) cents -= one.revenue_cents
  return cents > 0
}

/** Conversions that a server sends may be credited to `direct`, which has no visitor of them. */
function convertingSources({ metrics, sources }: AdviceFigures): Recommendation[] {
  const average = perCent(metrics.conversions, metrics.visitors)
  return sources.flatMap(({ key, detail: medium, visitors, conversions }) => {
    const rate = perCent(conversions, visitors)
    const isTwice = conversions * metrics.visitors >= 2 * metrics.conversions * visitors
    if (key === 'direct' || visitors < casesMin || conversions < conversionsMin || !isTwice) return []
    const detail =
      `${shown(conversions)} conversions of ${shown(visitors)} visitors from ${key} / ${medium}: ${rate} per 100, ` +
      `where ${average} per 100 is the average of all sources.`
    return [{ title: `${key} converts well above the average`, detail, priority: 'low' }]
  })
}

function untaggedLinks({ metrics: { visitors }, sources }: AdviceFigures): Recommendation[] {
  const direct = sources.find(({ key, detail }) => key === 'direct' && detail === 'none')?.visitors ?? 0
  const share = perCent(direct, visitors)
  if (visitors < shareCasesMin || share < directPercent) return []
  const detail =
    `${shown(direct)} of ${shown(visitors)} visitors, ${share} %, came from nowhere that is known. ` +
    'Put utm_source and utm_medium into the links of your mails, posts and ads, or use tracked links.'
  return [{ title: 'Tag the links that you share', detail, priority: 'low' }]
}

function assistants({ metrics: { visitors }, sources }: AdviceFigures): Recommendation[] {
  const those = sources.filter(({ key, detail }) => channelOf(key, detail) === 'AI Assistants')
  const sent = those.reduce((sum, one) => sum + one.visitors, 0)
  const share = perCent(sent, visitors)
  if (visitors < shareCasesMin || sent < casesMin || share < assistantsPercent) return []
  const names = those.map(({ key }) => key).join(', ')
  const detail = `${shown(sent)} of ${shown(visitors)} visitors, ${share} %, came from ${names}. Keep the pages that assistants quote right and short.`
  return [{ title: 'AI assistants send you visitors', detail, priority: 'low' }]
}

function lengthOf({ start, end }: { readonly start: string; readonly end: string }): number {
  return Date.parse(end) - Date.parse(start)
}

/** The time that is counted: the readable part of the range up to the last fold, and the period before. */
function countedMs({ range, as_of, readable_from, previous_range }: OverviewMetrics): number {
  const start = Math.max(Date.parse(range.start), Date.parse(readable_from))
  const end = Math.min(Date.parse(range.end), Date.parse(as_of))
  return end - start + (previous_range === null ? 0 : lengthOf(previous_range))
}

/** `1 visitor`, `2 visitors`. */
function counted(value: number, noun: string): string {
  return `${shown(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** A figure as a person reads it: `1,234.5`. */
function shown(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}
