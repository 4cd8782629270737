/** The mediums of visits that we name ourselves, and the kinds of sources that have them. */

export const mediums = {
  organic: 'organic',
  social: 'social',
  email: 'email',
  video: 'video',
  assistant: 'ai_assistant',
  referral: 'referral',
  paidSearch: 'cpc',
  paidSocial: 'paid_social',
  display: 'display',
  affiliate: 'affiliate',
} as const

/** A source's kind; shops are told apart for their channel only and refer under their own host. */
export type SourceKind = 'search' | 'social' | 'email' | 'video' | 'assistant' | 'shop' | 'searchAd' | 'displayAd'

/** The medium of a visit that such a source refers. */
export const mediumOfKind: Readonly<Record<SourceKind, string>> = {
  search: mediums.organic,
  social: mediums.social,
  email: mediums.email,
  video: mediums.video,
  assistant: mediums.assistant,
  shop: mediums.referral,
  searchAd: mediums.paidSearch,
  displayAd: mediums.display,
}
