/** The media of visits that we name ourselves, and the kinds of sources that have them. */

export const media = {
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
  search: media.organic,
  social: media.social,
  email: media.email,
  video: media.video,
  assistant: media.assistant,
  shop: media.referral,
  searchAd: media.paidSearch,
  displayAd: media.display,
}
