/** The object of the webhook event `link.clicked`. docs/webhooks.md shows it. */
export interface LinkClicked {
  readonly link_id: number
  readonly object_id: string
  readonly label: string
  /** As the link's own figures count them. */
  readonly clicks: number
  readonly first_clicked_at: string
  readonly last_clicked_at: string
  /** By clicks; an unknown one is empty. */
  readonly top_countries: readonly { readonly country: string; readonly clicks: number }[]
  readonly top_devices: readonly { readonly device: string; readonly clicks: number }[]
  readonly top_referrers: readonly { readonly host: string; readonly clicks: number }[]
}
