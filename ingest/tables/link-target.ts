/** Where a link leads, as the table of links holds it, and how much memory that takes. */
import { trackingUrlOf } from '../../schemas/event/tracking-url.ts'
import {
  expiredUrlBytesMax,
  linkDestinationLengthMax,
  linkPreviewDescriptionLengthMax,
  linkPreviewTitleLengthMax,
  trackingUrlBytesMax,
} from '../../schemas/limits/api-limits.ts'
import { linkTargetCountriesMax, linkTargetsMax } from '../../schemas/limits/link-target-limits.ts'
import { type ShareRange, shareRanges } from '../../schemas/link-shares.ts'
import type { LinkDevice, TrackedLinkTarget } from '../../schemas/resources/link.ts'
import type { LinkPreview } from '../../schemas/resources/link-preview.ts'

/** A link, as Postgres holds it. */
export interface LinkRow {
  readonly attribution_key: string
  /** Null: it stands under the installation's root. */
  readonly domain_id: number | null
  readonly id: number
  readonly workspace_id: number
  readonly post_id: number | null
  readonly tracking_url: string
  readonly expires_at: Date | null
  readonly expired_url: string | null
  readonly tracking_params: Readonly<Record<string, string>>
  readonly targets: readonly TrackedLinkTarget[]
  readonly password_hash: string | null
  readonly preview: LinkPreview | null
  readonly updated_at: Date
}

/** Where a key leads, and whose it is. */
export interface LinkTarget {
  readonly id: number
  readonly workspaceId: number
  readonly postId: number | null
  readonly url: string
  /** From this moment on, in milliseconds since 1970, it leads to `expiredUrl`, or nowhere; null: never. */
  readonly expiresAt: number | null
  readonly expiredUrl: string | null
  /** The first that fits a visitor leads elsewhere. */
  readonly targets: readonly VisitorTarget[]
  /** Null: nobody is asked for a password. */
  readonly passwordHash: string | null
  /** Null: those who make previews are led on as all others. */
  readonly preview: ShownPreview | null
}

/** The link's own preview. */
export interface ShownPreview {
  readonly title: string
  readonly description: string
  /** In ASCII. */
  readonly imageUrl: string | null
}

export interface VisitorTarget {
  /** Null: any. */
  readonly device: LinkDevice | null
  /** Codes with commas between, since one text takes less memory than a list; empty: any. */
  readonly countries: string
  /** Left out: it takes all of them. */
  readonly share?: ShareRange
  readonly url: string
  /** Without parameters: clicks are counted by it. */
  readonly destinationUrl: string
}

export function targetOf(row: LinkRow): LinkTarget {
  const ranges = shareRanges(row.targets)
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    postId: row.post_id,
    url: row.tracking_url,
    expiresAt: row.expires_at?.getTime() ?? null,
    expiredUrl: row.expired_url === null ? null : trackingUrlOf(row.expired_url, {}),
    targets: row.targets.map(({ device = null, countries = [], destination_url }, at) => ({
      device,
      countries: countries.join(),
      ...(ranges[at] && { share: ranges[at] }),
      url: trackingUrlOf(destination_url, row.tracking_params),
      destinationUrl: destination_url,
    })),
    passwordHash: row.password_hash,
    preview: row.preview && shownPreview(row.preview),
  }
}

function shownPreview({ title, description, image_url: url }: LinkPreview): ShownPreview {
  return { title, description, imageUrl: url === null ? null : trackingUrlOf(url, {}) }
}

/** About the bytes that a link takes in memory. At most `linkBytesMax`. */
export function sizeOf({ url, expiredUrl, targets, passwordHash, preview }: LinkTarget): number {
  return targets.reduce(
    (sum, target) => sum + sizeOfTarget(target),
    url.length + (expiredUrl?.length ?? 0) + (passwordHash?.length ?? 0) + sizeOfPreview(preview),
  )
}

/** About what an object takes in memory beside its texts: links with many short targets count as well. */
const targetOwnBytes = 100
const sizeOfTarget = ({ url, destinationUrl, countries, share }: VisitorTarget) =>
  targetOwnBytes + url.length + destinationUrl.length + countries.length + (share?.audience.length ?? 0)
/** Countries stand in the audience, too. */
const targetBytesMax = targetOwnBytes + trackingUrlBytesMax + linkDestinationLengthMax + 6 * linkTargetCountriesMax
/** More than an argon2id hash with its parameters has. */
const passwordHashBytesMax = 200
/** Texts beyond Latin take two bytes a character. */
function sizeOfPreview(preview: ShownPreview | null): number {
  if (preview === null) return 0
  const { title, description, imageUrl } = preview
  return previewOwnBytes + 2 * (title.length + description.length) + (imageUrl?.length ?? 0)
}
const previewOwnBytes = 100
/** A code point takes up to four bytes. Images have the bound of `expired_url`. */
const previewBytesMax =
  previewOwnBytes + 4 * (linkPreviewTitleLengthMax + linkPreviewDescriptionLengthMax) + expiredUrlBytesMax
/** Characters of one link's destinations, its password's hash and its preview. */
export const linkBytesMax =
  trackingUrlBytesMax + expiredUrlBytesMax + passwordHashBytesMax + previewBytesMax + linkTargetsMax * targetBytesMax
