/** Tracked links of the demo workspace, each for a campaign that its made-up visits have. */
import type { SeedLink } from '../../clickhouse/seed/rows-sql.ts'
import { demoSite } from '../../clickhouse/seed/vocabulary.ts'
import type { Queryable } from '../../postgres/client.ts'
import { insertLink } from '../../postgres/tables/links.ts'

const made = [
  { label: 'Newsletter', source: 'newsletter', medium: 'email', referrer: '' },
  { label: 'Facebook advertisement', source: 'facebook', medium: 'paid_social', referrer: 'https://www.facebook.com/' },
  { label: 'LinkedIn advertisement', source: 'linkedin', medium: 'paid_social', referrer: 'https://www.linkedin.com/' },
  { label: 'Poster in the window', source: 'poster', medium: 'qr', referrer: '' },
]
const destinationUrl = `${demoSite}/`

export async function fillLinks(q: Queryable, workspaceId: number): Promise<SeedLink[]> {
  const links: SeedLink[] = []
  for (const { label, source, medium, referrer } of made) {
    const { id } = await insertLink(q, {
      ...{ workspaceId, label, destinationUrl, postId: null, socialAccountId: null },
      ...{ utmSource: source, utmMedium: medium, utmCampaign: '', utmContent: '' },
    })
    links.push({ id, source, medium, referrer })
  }
  return links
}
