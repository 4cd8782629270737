/** Tracked links: the input that creates one, how it is shown, and its clicks. */
import { z } from 'zod'
import { idOrNull, laxInt } from '../lax.ts'
import {
  linkLabelLengthMax,
  linkPasswordLengthMax,
  linksCreatedMax,
  linksPasswordsMax,
  linkTagLengthMax,
  linkTagsMax,
  linkUtmLengthMax,
} from '../limits/api-limits.ts'
import { linkPagesMax, linkShareMax, linkTargetCountriesMax, linkTargetsMax } from '../limits/link-target-limits.ts'
import { linkKeyProblem } from '../link-key.ts'
import { excessiveShares } from '../link-shares.ts'
import { type LinkWay, linkWays } from '../link-ways.ts'
import { isCountryCode } from '../reference/country-zones.ts'
import { writtenTime } from '../time/written-time.ts'
import { dateTime } from './date-time.ts'
import { destinationUrl } from './destination-url.ts'
import { LinkPreview, LinkPreviewInput } from './link-preview.ts'
import { objectId } from './object-id.ts'
import { shortDomain } from './short-domain.ts'
import { tagsOf } from './tags.ts'

const destination = destinationUrl.meta({ description: 'http(s), no credentials.' })
const label = z.string().min(1).max(linkLabelLengthMax)
const expiry = {
  expires_at: writtenTime.nullable().optional().meta({ description: 'When it ends; null: never.' }),
  expired_url: destinationUrl.nullable().optional().meta({ description: 'Where then; null: 410.' }),
}

export const linkStatuses = ['active', 'archived'] as const

/** Kinds of devices that a target may name, as far as a user agent tells them apart. */
const linkDevices = ['ios', 'android', 'desktop'] as const
export type LinkDevice = (typeof linkDevices)[number]

/** In capital letters, however it was sent. */
const country = z
  .string()
  .refine((code) => /^[a-z]{2}$/i.test(code) && isCountryCode(code.toUpperCase()), 'a country is an ISO alpha-2 code')
  .meta({ examples: ['DE'] })
  .transform((code) => code.toUpperCase())
const target = z
  .strictObject({
    device: z.enum(linkDevices).optional(),
    countries: z
      .array(country)
      .max(linkTargetCountriesMax)
      .transform((codes) => [...new Set(codes)])
      .optional(),
    share: laxInt({ ge: 1, le: linkShareMax }),
    destination_url: destinationUrl,
  })
  .refine(
    ({ device, countries = [], share }) => device !== undefined || countries.length > 0 || share !== undefined,
    'It needs a device, countries or a share',
  )
const sharesText = `Shares of targets with the same device and countries come to ${linkShareMax} at most: the rest goes on to the next target or the link’s destination`
const targets = z
  .array(target)
  .max(linkTargetsMax)
  .superRefine((targets, context) => {
    for (const at of excessiveShares(targets)) {
      context.addIssue({ code: 'custom', path: [at, 'share'], message: sharesText })
    }
  })
  .nullable()
  .optional()
  .meta({ description: 'By device, country, share %; first fit.' })

const password = z
  .string()
  .min(1)
  .max(linkPasswordLengthMax)
  .refine((text) => !/\p{Cc}/u.test(text), 'A password has no control characters')
  .nullable()
  .optional()

const preview = LinkPreviewInput.nullable().optional().meta({ description: 'Shown by apps.' })

const key = z
  .string()
  .superRefine((key, context) => {
    const message = linkKeyProblem(key)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })
  .nullable()
  .optional()
  .meta({ description: 'Its end; null: random.', examples: [null] })

/** Whether it is one of the workspace's is asked later. */
const domain = shortDomain
  .nullable()
  .optional()
  .meta({ description: 'A verified host.', examples: [null] })

const tags = tagsOf({ max: linkTagsMax, each: linkTagLengthMax }).nullable().optional()

const utm = z.string().max(linkUtmLengthMax)

export const LinkCreate = z
  .strictObject({
    label,
    destination_url: destination,
    post_id: idOrNull('post', 'Its post.'),
    social_account_id: idOrNull('social_account', 'Who posts it.'),
    utm_source: utm.default('svc'),
    utm_medium: utm.default('social'),
    utm_campaign: utm.default(''),
    utm_content: utm.default(''),
    expires_at: expiry.expires_at.default(null),
    expired_url: expiry.expired_url.default(null),
    targets: targets.default(null),
    tags: tags.default(null),
    password: password.default(null),
    preview: preview.default(null),
    key: key.default(null),
    domain: domain.default(null),
  })
  .meta({ id: 'TrackedLinkCreate' })

export const LinksCreate = z
  .strictObject({
    links: z
      .array(LinkCreate)
      .min(1)
      .max(linksCreatedMax)
      .refine(
        (links) => new Set(links.flatMap(({ password }) => password ?? [])).size <= linksPasswordsMax,
        `All links together have at most ${linksPasswordsMax} different passwords`,
      ),
  })
  .meta({ id: 'TrackedLinksCreate' })

export const LinkUpdate = z
  .strictObject({
    label: label.optional(),
    destination_url: destination.optional(),
    utm_source: utm.optional(),
    utm_medium: utm.optional(),
    utm_campaign: utm.optional(),
    utm_content: utm.optional(),
    ...expiry,
    targets,
    tags,
    password,
    preview,
  })
  .meta({ id: 'TrackedLinkUpdate' })

const LinkTarget = z
  .object({
    device: z.enum(linkDevices).optional().meta({ description: 'Any, where it is left out.' }),
    countries: z
      .array(z.string().meta({ examples: ['DE'] }))
      .optional()
      .meta({ description: 'Likewise.' }),
    share: z.int().optional().meta({ description: 'Percent of these visitors; all, where it is left out.' }),
    destination_url: z.string(),
  })
  .meta({ id: 'TrackedLinkTarget' })
export type TrackedLinkTarget = z.output<typeof LinkTarget>

const link = {
  id: z.int(),
  object_id: objectId('link'),
  label: z.string(),
  destination_url: z.string(),
  tracking_url: z.string(),
  post_url: z.string().meta({ description: 'The short URL.' }),
  attribution_key: z.string().meta({ description: 'Its end.' }),
  domain: z.string().nullable(),
  post_id: z.int().nullable().optional(),
  social_account_id: z.int().nullable().optional(),
  utm_source: z.string(),
  utm_medium: z.string(),
  utm_campaign: z.string(),
  utm_content: z.string(),
  tracking_params: z.record(z.string(), z.string()).optional(),
  expires_at: dateTime.nullable(),
  expired_url: z.string().nullable(),
  targets: z.array(LinkTarget),
  tags: z.array(z.string()),
  has_password: z.boolean(),
  preview: LinkPreview.nullable(),
  created_at: dateTime,
  updated_at: dateTime,
}

const count = z.int().min(0)

export const LinkResource = z.object(link).meta({ id: 'TrackedLink' })

export const LinksResource = z
  .object({
    links: z.array(LinkResource).meta({ description: 'In the order of the request.' }),
    link_ids: z.array(z.int()).meta({ description: 'Their ids, likewise.' }),
  })
  .meta({ id: 'TrackedLinks' })

export const ListedLink = z
  .object({
    ...link,
    clicks: count.nullable().optional().meta({ description: 'Of people; null while unreadable.' }),
  })
  .meta({ id: 'ListedTrackedLink' })

const LinkClicks = z
  .object({
    clicks: count.meta({ description: "People's clicks: the same visitor counts once an hour." }),
    total: count.meta({ description: 'All requests of people, repeats included.' }),
    visitors: count.meta({ description: 'Visitors, told apart within a day.' }),
    bots: count,
    previews: count.meta({ description: 'Requests that made a preview of the link.' }),
    prefetches: count.meta({ description: 'Browsers that loaded it ahead of a click.' }),
    heads: count.meta({ description: 'HEAD requests.' }),
    last_clicked_at: dateTime.nullable().meta({ description: 'Of people.' }),
  })
  .meta({ id: 'TrackedLinkClicks' })

const mostClicks = <Names extends z.ZodRawShape>(
  names: Names,
  description = 'By clicks, at most 10; an unknown one is empty.',
) => z.array(z.object({ ...names, clicks: count })).meta({ description })
const ways = Object.keys(linkWays) as [LinkWay, ...LinkWay[]]

const LinkClickLists = z
  .object({
    days: z.array(z.object({ day: z.string(), clicks: count })).meta({ description: 'The last 30 local days.' }),
    countries: mostClicks({ country: z.string() }),
    referrers: mostClicks({ host: z.string() }),
    targets: mostClicks(
      { destination_url: z.string().nullable() },
      'By clicks, at most 20, earlier ones too; null: the link’s own destination.',
    ),
    devices: mostClicks({ device: z.string() }),
    browsers: mostClicks({ browser: z.string() }),
    systems: mostClicks({ system: z.string() }),
    cities: mostClicks({ city: z.string(), label: z.string() }, 'Likewise: `Berlin, DE-BE`, and how to show it.'),
    ways: mostClicks({ way: z.enum(ways) }, 'By the link or its QR code.'),
  })
  .meta({ id: 'TrackedLinkClickLists' })

const LinkVisits = z
  .object({
    visitors: count.meta({ description: 'Visitors of your site who came by the link.' }),
    sessions: count,
    conversions: count.meta({ description: 'Conversions whose credited touch the link led to.' }),
    pages: z
      .array(
        z.object({
          hostname: z.string(),
          path: z.string(),
          visitors: count,
          sessions: count,
          conversions: count.meta({ description: 'Those whose credited touch was the arrival here.' }),
          conversion_rate: z.number().meta({ description: 'Visitors with such a conversion in per cent of visitors.' }),
        }),
      )
      .meta({ description: `Pages of arrival, by visitors, at most ${linkPagesMax}.` }),
  })
  .meta({ id: 'TrackedLinkVisits' })

export const LinkRevenue = z
  .object({
    payments: count.meta({ description: 'Payments whose credited touch the link led to.' }),
    revenue_cents: z.int().meta({ description: "In the workspace's currency, less refunds." }),
    revenue_by_currency: z.record(z.string(), z.int()).meta({ description: 'What no rate converts, apart.' }),
  })
  .meta({ id: 'TrackedLinkRevenue' })

export const LinkWithClicks = z
  .object({
    ...link,
    click_counts: LinkClicks.nullable(),
    click_lists: LinkClickLists.nullable(),
    visits: LinkVisits.nullable(),
    revenue: LinkRevenue.nullable(),
  })
  .meta({ id: 'TrackedLinkWithClicks' })

export type LinkRevenue = z.output<typeof LinkRevenue>
