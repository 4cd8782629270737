/** Tracked links of the demo workspace, each for a campaign that its made-up visits have. */
import type { SeedLink } from '../../clickhouse/seed/rows-sql.ts'
import { demoSite } from '../../clickhouse/seed/vocabulary.ts'
import type { CallContext } from '../operations/define.ts'
import { createLink } from '../operations/links/create-link.ts'
import { callOperation } from './call-operation.ts'

const [facebook, linkedin] = ['https://www.facebook.com/', 'https://www.linkedin.com/']
const made = [
  { label: 'Newsletter', source: 'newsletter', medium: 'email', referrer: '', tags: ['mail'] },
  { label: 'Facebook advertisement', source: 'facebook', medium: 'paid_social', referrer: facebook, tags: ['ads'] },
  { label: 'LinkedIn advertisement', source: 'linkedin', medium: 'paid_social', referrer: linkedin, tags: ['ads'] },
  { label: 'Poster in the window', source: 'poster', medium: 'qr', referrer: '', tags: ['print'] },
]

/** @param context of the demo workspace, within a transaction */
export async function fillLinks(context: CallContext): Promise<SeedLink[]> {
  const links: SeedLink[] = []
  for (const { label, source, medium, referrer, tags } of made) {
    const { id } = await callOperation(context, createLink, {
      label,
      destination_url: `${demoSite}/`,
      utm_source: source,
      utm_medium: medium,
      tags,
    })
    links.push({ id, source, medium, referrer })
  }
  return links
}
