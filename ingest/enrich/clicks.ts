/** Reads a request for a short link: where it leads the visitor, and the row of the click. */

import { devices, type Hash64, type LinkClickRow, linkClickKinds, noCountry } from '../../schemas/event/row.ts'
import { urlLengthMax } from '../../schemas/limits/event-limits.ts'
import type { ShareRange } from '../../schemas/link-shares.ts'
import { linkWays, wayOfQuery } from '../../schemas/link-ways.ts'
import { cityKey } from '../../schemas/reference/places.ts'
import type { LinkDevice } from '../../schemas/resources/link.ts'
import type { Sender } from '../event-context.ts'
import type { LinkTarget, VisitorTarget } from '../tables/link-target.ts'
import type { KeyTable } from '../tables/tracking-key-table.ts'
import type { Countries } from './countries.ts'
import { drawShare } from './draw-share.ts'
import { countryOfSender, keptArea, type PlaceDetail, placeOfSender } from './find-place.ts'
import { makeUnnamedVisitors } from './hash-ids.ts'
import { keptReferrer } from './page-url.ts'
import type { SaltOfDay } from './salted-cache.ts'
import { type Agent, makeUserAgents } from './user-agents.ts'

export interface LinkRequest {
  readonly isHead: boolean
  /** The browser says that nobody has clicked yet. */
  readonly isPrefetch: boolean
  readonly referrer: string
  /** That of the short URL, as it came. */
  readonly query: string
  readonly sender: Sender
}

export interface ClickReader {
  /**
   * The first of the link's targets that fits the visitor's device and country and takes the visitor's draw; null: the
   * link's own URL. No program draws: search engines and previews see what the shares leave.
   */
  targetFor(link: LinkTarget, sender: Sender): VisitorTarget | null
  /** A person's, and neither ahead of a click nor a HEAD. */
  isClick(request: LinkRequest): boolean
  /** Whether the link's workspace leaves the visitor out, by address or country: the request is no row then. */
  isExcluded(link: LinkTarget, request: LinkRequest): boolean
  /** Whether a program that makes previews of links asks. */
  isPreview(request: LinkRequest): boolean
  /**
   * The row is the reader's own and filled anew by the next call; `id` is not set yet.
   * @param target that the request was led to; null: none
   */
  read(link: LinkTarget, request: LinkRequest, target: VisitorTarget | null): LinkClickRow
}

const clickEventName = 'link_click_through'

export interface ClickReaderOptions {
  readonly salts: SaltOfDay
  /** Null: no address is looked up. */
  readonly countries: Countries | null
  readonly placeDetail: PlaceDetail
  readonly exclusionsOf: KeyTable['exclusionsOf']
}

export function makeClickReader({ salts, countries, placeDetail, exclusionsOf }: ClickReaderOptions): ClickReader {
  const userAgents = makeUserAgents()
  const visitorOf = makeUnnamedVisitors(salts)
  const row = makeLinkClickRow()

  return {
    targetFor: ({ id, workspaceId, targets }, sender) => {
      if (targets.length === 0) return null
      const agent = userAgents(sender.userAgent)
      const own = linkDeviceOf(agent)
      const country = countryOfSender(sender, countries)
      let visitor: Hash64 | undefined
      const takes = ({ audience, from, to }: ShareRange) => {
        if (agent.program !== null) return false
        visitor ??= visitorOf(workspaceId, sender.address, agent.text, sender.receivedAt)
        const drawn = drawShare(id, visitor, audience)
        return from <= drawn && drawn < to
      }
      const fitting = targets.find(
        ({ device, countries: codes, share }) =>
          (device === null || device === own) &&
          (codes === '' || codes.includes(country)) &&
          (share === undefined || takes(share)),
      )
      return fitting ?? null
    },
    isClick: (request) => kindOf(userAgents(request.sender.userAgent), request) === linkClickKinds.click,
    isExcluded: ({ workspaceId }, { sender }) => {
      const exclusions = exclusionsOf(workspaceId)
      if (exclusions === null) return false
      const country = countryOfSender(sender, countries)
      return exclusions.reasonFor({ address: sender.address, country, url: '', path: '' }) !== null
    },
    isPreview: (request) => kindOf(userAgents(request.sender.userAgent), request) === linkClickKinds.preview,
    read: (link, request, target) => {
      const { sender } = request
      const agent = userAgents(sender.userAgent)
      const visitor = visitorOf(link.workspaceId, sender.address, agent.text, sender.receivedAt)
      const { country, area } = placeOfSender(sender, countries)
      const { city, region, regionName } = keptArea(area, placeDetail)
      row.workspace_id = link.workspaceId
      row.occurred_at = sender.receivedAt
      row.kind = kindOf(agent, request)
      row.visitor.hi = visitor.hi
      row.visitor.lo = visitor.lo
      row.link_id = link.id
      row.post_id = link.postId ?? 0
      row.device = agent.device
      row.way = wayOfQuery(request.query)
      row.country = country
      row.referrer = referrerOf(request)
      row.target_url = target?.destinationUrl ?? ''
      row.browser = agent.browser
      row.os = agent.os
      row.city = cityKey(city, region, country)
      // Only to name a city's region: the city's key has its code.
      row.region_name = city === '' ? '' : regionName
      row.bot_name = agent.program?.name ?? ''
      return row
    },
  }
}

/** The request's referrer as it is kept. */
export function referrerOf({ referrer }: LinkRequest): string {
  return keptReferrer(referrer.slice(0, urlLengthMax).toWellFormed())
}

/** Null for bots, whose devices aren't read, and for devices that are none of these. */
function linkDeviceOf({ os, device }: Agent): LinkDevice | null {
  if (os === 'iOS') return 'ios'
  if (os === 'Android') return 'android'
  return device === devices.desktop ? 'desktop' : null
}

/** A program's request is a bot's or a preview's with any method. */
function kindOf({ program }: Agent, { isHead, isPrefetch }: LinkRequest): number {
  if (program !== null) return program.category === 'social_preview' ? linkClickKinds.preview : linkClickKinds.bot
  if (isPrefetch) return linkClickKinds.prefetch
  return isHead ? linkClickKinds.head : linkClickKinds.click
}

function makeLinkClickRow(): LinkClickRow {
  return {
    id: 0,
    workspace_id: 0,
    occurred_at: 0,
    kind: linkClickKinds.click,
    visitor: { hi: 0, lo: 0 },
    link_id: 0,
    post_id: 0,
    device: 0,
    way: linkWays.link,
    country: noCountry,
    event_name: clickEventName,
    referrer: '',
    target_url: '',
    browser: '',
    os: '',
    city: '',
    region_name: '',
    bot_name: '',
  }
}
