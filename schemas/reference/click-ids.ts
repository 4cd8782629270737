/**
 * Parameters by which advertising and mail platforms recognise a click. They say where a visit came from; their values,
 * which could name a person to the platform, are not kept.
 */
import { media, type Source } from './sources.ts'

export interface ClickId extends Source {
  /** Whether the platform adds it to paid clicks only: it then says more than the referrer. */
  readonly isPaid: boolean
}

function paid(source: string, medium: string): ClickId {
  return { source, medium, isPaid: true }
}
function unpaid(source: string, medium: string): ClickId {
  return { source, medium, isPaid: false }
}

export const clickIds: ReadonlyMap<string, ClickId> = new Map([
  ['gclid', paid('google', media.paidSearch)],
  ['gclsrc', paid('google', media.paidSearch)],
  ['gbraid', paid('google', media.paidSearch)],
  ['wbraid', paid('google', media.paidSearch)],
  ['dclid', paid('google', media.display)],
  ['msclkid', paid('bing', media.paidSearch)],
  ['twclid', paid('x', media.paidSocial)],
  ['li_fat_id', paid('linkedin', media.paidSocial)],
  ['ttclid', paid('tiktok', media.paidSocial)],
  ['rdt_cid', paid('reddit', media.paidSocial)],
  ['epik', paid('pinterest', media.paidSocial)],
  ['qclid', paid('quora', media.paidSocial)],
  ['sccid', paid('snapchat', media.paidSocial)],
  ['irclid', paid('impact', media.affiliate)],
  // Added to links that people share, and to mails, too.
  ['fbclid', unpaid('facebook', media.social)],
  ['igshid', unpaid('instagram', media.social)],
  ['_kx', unpaid('klaviyo', media.email)],
  ['mc_cid', unpaid('mailchimp', media.email)],
])
