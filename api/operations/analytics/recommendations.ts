/**
 * Advice from the figures, by fixed rules: the same figures give the same advice. Each rule is silent below a number of
 * cases from which nothing can be concluded, and each detail names the figures it was drawn from.
 */
import type { OverviewFigures } from '../../../clickhouse/queries/overview/read-overview.ts'
import { channelOf } from '../../../schemas/reference/channels.ts'
import { decimalsOf } from '../../../schemas/reference/currencies.ts'
import { rateVital, vitals } from '../../../schemas/reference/web-vitals.ts'
import type { OverviewMetrics, Recommendation as RecommendationSchema } from '../../../schemas/resources/overview.ts'
import { perCent } from './metrics.ts'
import { worstVital } from './web-vitals.ts'

type Recommendation = ReturnType<(typeof RecommendationSchema)['parse']>
export type AdviceFigures = Pick<OverviewFigures, 'sources' | 'devices' | 'pages' | 'pageVitals'> & {
  readonly metrics: OverviewMetrics
  /** Whether any event ever came, readable or not. */
  readonly hasEvents: boolean
  /** False while the range goes on: the period that it is compared with had more time. */
  readonly isOver: boolean
  /** The workspace's. */
  readonly currency: string
}

/** Visitors, sessions or pageviews below which a rate says nothing. */
const casesMin = 10
const vitalSamplesMin = 5
const conversionsMin = 3
/** A page is busy with this share of all pageviews. */
const busyPercent = 5
const bouncePercent = 70
const fallPercent = 30
/** Shares of visitors are told of from so many visitors on. */
const shareCasesMin = 50
const directPercent = 60
const assistantsPercent = 5
/** Converts worse: with less than this part of the average. */
const weakPart = 0.5
/** Of one rule: a list of everything is no advice. */
const adviceEachMax = 3

const rules = [
  ...[noEvents, noPageviews, fallOfVisitors, fallOfConversions, poorVitals],
  ...[noConversions, bouncingPages, weakDevices, idleCampaigns],
  ...[convertingSources, untaggedLinks, assistants],
]
const priorities = ['high', 'medium', 'low'] as const

export function recommend(figures: AdviceFigures): Recommendation[] {
  const advice = rules.flatMap((rule) => rule(figures).slice(0, adviceEachMax))
  return priorities.flatMap((priority) => advice.filter((recommendation) => recommendation.priority === priority))
}

function noEvents({ hasEvents }: AdviceFigures): Recommendation[] {
  if (hasEvents) return []
  const detail = '0 events have arrived so far. Put the snippet into the head of every page, then open your site once.'
  return [{ title: 'Install the tracking snippet', detail, priority: 'high' }]
}

function noPageviews({ metrics: { events, pageviews } }: AdviceFigures): Recommendation[] {
  if (events === 0 || pageviews > 0) return []
  const detail = `${counted(events, 'event')} arrived, and 0 pageviews: the snippet isn't on your pages.`
  return [{ title: 'The tracking snippet was not seen', detail, priority: 'high' }]
}

function fallOfVisitors({ isOver, metrics: { visitors, previous } }: AdviceFigures): Recommendation[] {
  if (!isOver || previous === null || previous.visitors < casesMin) return []
  const fall = perCent(previous.visitors - visitors, previous.visitors)
  if (fall < fallPercent) return []
  const detail = `${shown(visitors)} visitors came, after ${shown(previous.visitors)} in the period it is compared with.`
  return [{ title: `Visitors fell by ${fall} %`, detail, priority: 'high' }]
}

function fallOfConversions({ isOver, metrics: { conversions, previous } }: AdviceFigures): Recommendation[] {
  if (!isOver || previous === null || previous.conversions < casesMin) return []
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

function noConversions({ metrics: { visitors, conversions, previous } }: AdviceFigures): Recommendation[] {
  const wereSetUp = conversions > 0 || (previous !== null && previous.conversions > 0)
  if (visitors === 0 || wereSetUp) return []
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

/** Only where the average would have brought enough conversions to tell. */
function weakDevices({ metrics, devices }: AdviceFigures): Recommendation[] {
  const average = perCent(metrics.conversions, metrics.visitors)
  return devices.flatMap(({ key, visitors, conversions }) => {
    const rate = perCent(conversions, visitors)
    const isTold = visitors * metrics.conversions >= casesMin * metrics.visitors
    const isWeak = conversions * metrics.visitors < weakPart * metrics.conversions * visitors
    if (key === 'unknown' || !isTold || !isWeak) return []
    const detail =
      `${shown(conversions)} conversions of ${shown(visitors)} visitors on ${key}: ${rate} per 100, ` +
      `where ${average} per 100 is the average. Try the way to your goal on such a device.`
    return [{ title: `Visitors on ${key} hardly convert`, detail, priority: 'medium' }]
  })
}

/** Ads that cost, brought visitors, and are credited with no revenue, where there is revenue at all. */
function idleCampaigns({ currency, metrics: { ad_campaigns, revenue_cents } }: AdviceFigures): Recommendation[] {
  if (revenue_cents <= 0) return []
  return ad_campaigns.flatMap(({ source, campaign, cost_cents, clicks, revenue_cents: earned }) => {
    if (cost_cents <= 0 || clicks < casesMin || earned > 0) return []
    const detail =
      `${campaign} (${source}) cost ${shown(cost_cents / 10 ** decimalsOf(currency))} ${currency} for ${shown(clicks)} clicks, ` +
      'and no payment is credited to it. Look at its landing page, or end it.'
    return [{ title: `The campaign ${campaign} earns nothing`, detail, priority: 'medium' }]
  })
}

function convertingSources({ metrics, sources }: AdviceFigures): Recommendation[] {
  const average = perCent(metrics.conversions, metrics.visitors)
  return sources.flatMap(({ key, detail: medium, visitors, conversions }) => {
    const rate = perCent(conversions, visitors)
    const isTwice = conversions * metrics.visitors >= 2 * metrics.conversions * visitors
    if (visitors < casesMin || conversions < conversionsMin || !isTwice) return []
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

/** `1 visitor`, `2 visitors`. */
function counted(value: number, noun: string): string {
  return `${shown(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** A figure as a person reads it: `1,234.5`. */
function shown(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 3 })
}
