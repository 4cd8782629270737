/** The tables of pages that customers and operators read are those of the code: operations, refusals, fields, metrics. */

import { expect, test } from 'vitest'
import { makeGateway } from '../../api/gateway.ts'
import { operations } from '../../api/operations/registry.ts'
import { issueCodes, severityOf } from '../../authoring/posts/issue.ts'
import { checks } from '../../cli/doctor/finding.ts'
import { watchMetrics } from '../../ingest/service-metrics.ts'
import { mergeEvents } from '../../pipeline/people/write-outbox-rows.ts'
import { makePipelineMetrics } from '../../pipeline/pipeline-metrics.ts'
import { systemClock } from '../../runtime/clock.ts'
import { refusals } from '../../runtime/http/refusals.ts'
import { unparsedRefusals } from '../../runtime/http/unparsed.ts'
import { makeLog } from '../../runtime/log.ts'
import { type Metrics, makeMetrics } from '../../runtime/metrics.ts'
import { problems } from '../../schemas/errors/problems.ts'
import * as limits from '../../schemas/limits/api-limits.ts'
import { type KindLimits, providers } from '../../schemas/reference/providers.ts'
import { PostCreate, postStatuses, targetStatuses } from '../../schemas/resources/post.ts'
import { WebhookCreate, WebhookDeliveryResource } from '../../schemas/resources/webhook.ts'
import { webhookEventTypes } from '../../schemas/webhook-events.ts'
import { type ApiParameter, apiDocument } from '../support/api-requests.ts'
import { readDoc, tableOf } from '../support/docs.ts'

const apiPage = readDoc('docs/api.md')

test('docs/api.md has every operation with its scope, and no other', () => {
  const shown = tableOf(apiPage, '## Operations').map((row) => row.slice(0, 2))
  expect(shown).toEqual(operations.map(({ http, scope }) => [`\`${http.method} ${http.path}\``, `\`${scope}\``]))
})

const takenBy = ({ minimum, maximum, enum: values }: ApiParameter['schema']) => {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ')
  return maximum === undefined ? 'text' : `${minimum}–${maximum}`
}

test('docs/api.md has the parameters of the overview with their bounds and defaults', () => {
  const meant = apiDocument.paths['/v1/analytics/overview']!['get']!.parameters!.map(({ name, schema }) => [
    `\`${name}\``,
    takenBy(schema),
    schema.default === undefined ? '' : String(schema.default),
  ])
  expect(tableOf(apiPage, '## The overview').map((row) => row.slice(0, 3))).toEqual(meant)
})

test('docs/api.md has every refusal with its status and text', () => {
  const shown = tableOf(apiPage, '## Answers').map(([status, detail]) => `${status} ${detail!.replaceAll('`', '')}`)
  const meant = Object.values(problems).map(({ status, detail }) => `${status} ${detail}`)
  expect(shown).toEqual(expect.arrayContaining(meant))
  const given = new Set<string>(
    [...Object.values(problems), ...Object.values(refusals), ...Object.values(unparsedRefusals)].map(
      ({ detail }) => detail,
    ),
  )
  const texts = tableOf(apiPage, '## Answers').flatMap(([, detail]) => /^`(.*)`$/.exec(detail!)?.[1] ?? [])
  expect(texts.filter((text) => !given.has(text))).toEqual([])
})

test('docs/dashboard.md and docs/api.md say how many shared links and keys a workspace may have', () => {
  expect(readDoc('docs/dashboard.md')).toContain(`at most ${limits.sharedLinksMax} that work`)
  expect(apiPage).toContain(`${limits.sharedLinksMax} that work`)
  expect(apiPage).toContain(`${limits.apiKeysMax} that work`)
})

test('docs/api.md names every member of the overview', () => {
  const { properties } = apiDocument.components.schemas['AnalyticsOverview']!
  for (const member of Object.keys(properties as object)) expect(apiPage).toContain(`\`${member}\``)
})

test('docs/cli.md says what each check of the doctor looks at, in the order in which they are shown', () => {
  expect(tableOf(readDoc('docs/cli.md'), '## Doctor').map(([check]) => check)).toEqual(
    checks.map((check) => `\`${check}\``),
  )
})

const postsPage = readDoc('docs/posts.md')
const number = (value: number) => value.toLocaleString('en-US')

test('docs/posts.md has what each platform takes, as the table of providers says', () => {
  const size = (bytes: number) => (bytes >= 1e9 ? `${bytes / 1e9} GB` : `${bytes / 1e6} MB`)
  const kind = (allowed: KindLimits | null) =>
    allowed === null ? 'none' : `${allowed.countMax} of ${size(allowed.bytesMax)}`
  const needed = { media: 'an image or a video', image: 'an image', video: 'a video', nothing: '' }
  const meant = Object.entries(providers).map(([platform, provider]) => [
    `\`${platform}\``,
    number(provider.captionLengthMax) +
      (provider.mediaCaptionLengthMax === undefined ? '' : `, under media ${number(provider.mediaCaptionLengthMax)}`),
    `\`${provider.captionCounting}\`${provider.captionBytesMax === null ? '' : `, ${number(provider.captionBytesMax)} bytes`}`,
    provider.takesThreads ? 'yes' : 'no',
    provider.commentLengthMax === null ? 'none' : number(provider.commentLengthMax),
    needed[provider.needs ?? 'nothing'],
    kind(provider.image),
    kind(provider.video),
    provider.image && provider.video ? String(provider.mixedMax ?? 'no') : '',
    provider.altTextLengthMax === null ? '' : number(provider.altTextLengthMax),
  ])
  expect(tableOf(postsPage, '## Readiness')).toEqual(meant)
})

test('docs/posts.md has every code of an issue with its severity, and no other', () => {
  const shown = postsPage.match(/^\| `\w+` \| (error|warning) \|/gm)
  expect(shown).toEqual(issueCodes.map((code) => `| \`${code}\` | ${severityOf(code)} |`))
})

test('docs/posts.md has the fields of a post with their bounds', () => {
  const rows = tableOf(postsPage, '## Fields')
  expect(rows.map(([field]) => field)).toEqual(Object.keys(PostCreate.shape).map((field) => `\`${field}\``))
  const bounds = Object.fromEntries(rows.map(([field, takes]) => [field!.replaceAll('`', ''), takes!]))
  expect(bounds).toMatchObject({
    title: `1–${number(limits.postTitleLengthMax)} characters`,
    base_caption: `1–${number(limits.postBaseCaptionLengthMax)} characters`,
    tags: `at most ${limits.postTagsMax} different ones, each of 1–${limits.postTagLengthMax} characters`,
    media_ids: `at most ${limits.postMediaMax}`,
    social_account_ids: `at most ${limits.postAccountsMax}`,
    platform_captions: `a caption by platform, each of at most ${number(limits.postCaptionOverrideLengthMax)} characters, at most ${limits.postPlatformCaptionsMax}`,
    thread: `at most ${limits.postThreadMax} parts, each a text of 1–${number(limits.postBaseCaptionLengthMax)} characters, alone or with media and captions`,
    first_comment: `1–${number(limits.postFirstCommentLengthMax)} characters or null`,
  })
  expect(postsPage).toContain(`A workspace has at most ${limits.socialAccountsMax}.`)
})

test('docs/posts.md names every status of posts and targets', () => {
  for (const status of [...postStatuses, ...targetStatuses]) expect(postsPage).toContain(`\`${status}\``)
})

const webhooksPage = readDoc('docs/webhooks.md')

const byPipeline = [
  'post.created',
  'post.scheduled',
  'post.unscheduled',
  'link.created',
  'post.published',
  'post.failed',
  'social_account.health_changed',
  'company_profile.updated',
  'conversion.recorded',
  'contact.merged',
  'traffic.spike',
  'traffic.drop',
  'link.clicked',
  ...mergeEvents,
]
const byProviders = ['revenue.recorded', 'revenue.refunded']

test('docs/webhooks.md has every event with the operations that write it down', () => {
  const byOf = (event: string) => {
    if (byProviders.includes(event)) return '[payment providers and imports](revenue.md)'
    const emitting = operations.filter(({ emits }) => emits === event)
    const calls = emitting.map(({ http }) => `\`${http.method} ${http.path}\``)
    return [...calls, ...(byPipeline.includes(event) ? ['the pipeline'] : [])].join(', ')
  }
  expect(tableOf(webhooksPage, '## Events')).toEqual(webhookEventTypes.map((event) => [`\`${event}\``, byOf(event)]))
})

test('docs/webhooks.md has the fields of a registration with their bounds', () => {
  const fields = tableOf(webhooksPage, '## Registering')
  expect(fields.map(([field]) => field)).toEqual(Object.keys(WebhookCreate.shape).map((field) => `\`${field}\``))
  expect(fields.map(([, bounds]) => bounds)).toEqual([
    `1–${limits.webhookUrlLengthMax} characters`,
    `1–${limits.webhookEventsMax}`,
    `at most ${limits.webhookDescriptionLengthMax} characters`,
  ])
  expect(webhooksPage).toContain(`at most ${limits.webhookEndpointsMax} endpoints`)
})

test('docs/webhooks.md names every member of a delivery record', () => {
  for (const member of Object.keys(WebhookDeliveryResource.shape)) expect(webhooksPage).toContain(`\`${member}\``)
})

const operationsPage = readDoc('docs/operations.md')

async function namesIn(metrics: Metrics): Promise<string[]> {
  return [...(await metrics.text()).matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name!)
}

/** The metrics of all services, made as their `main.ts` makes them; nothing is asked of the stores. */
async function metricsOfServices(): Promise<string[]> {
  const ingest = makeMetrics('ingest', false)
  const shipper = { backlog: () => ({ bytes: 0, segments: 0, since: 0 }) } as never
  const watched = watchMetrics(ingest)
  const shippers = { events: shipper, bot_visits: shipper, link_clicks: shipper, replay_chunks: shipper }
  watched.watchShipping(shippers, { heldHours: () => 0 } as never)
  watched.watchWindow({ heldSince: 0 } as never, systemClock)
  const pipeline = makeMetrics('pipeline', false)
  makePipelineMetrics(pipeline)
  const api = makeMetrics('api', false)
  const none = undefined as never
  const log = makeLog('api', 'silent')
  const pg = { transaction: none } as never
  makeGateway({
    operations: [],
    pg,
    ch: none,
    clock: systemClock,
    log,
    metrics: api,
    apiHost: () => '',
    rateLimiter: none,
    signInLimiter: none,
    box: none,
    hashes: none,
    revenueBox: none,
    mailBox: none,
    accountBox: none,
    appBox: none,
    factorBox: none,
    browserHash: none,
    idempotencyKeptMs: 1,
    answerDeadlineMs: 0,
    hashAddress: none,
    hashRequest: none,
    proxies: none,
    readTxt: none,
    media: none,
    mediaLinks: none,
    mediaLimits: { imageBytesMax: 1, videoBytesMax: 1 },
    mediaBytesMax: none,
  })
  return (await Promise.all([ingest, pipeline, api].map(namesIn))).flat().sort()
}

test('docs/operations.md has every metric of the services, and no other', async () => {
  const shown = tableOf(operationsPage, '## What to watch').map(([name]) => name!.replaceAll('`', ''))
  expect(shown.sort()).toEqual(await metricsOfServices())
})

test('every metric that a page names is one of the services', async () => {
  const known = new Set(await metricsOfServices())
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'docs/operations.md',
    'docs/settings.md',
    'docs/tracking.md',
    'docs/retention.md',
  ]
  const named = pages.flatMap(
    (path) => readDoc(path).match(/`(?:ingest|svc)_[a-z_]+(?:_total|_seconds|_hours|_bytes|_up|_jobs)\b/g) ?? [],
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.map((name) => name.slice(1)).filter((name) => !known.has(name))).toEqual([])
})
