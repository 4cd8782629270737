/**
 * How visits began. `svc_first` is written once; `svc_last` by every later landing from a campaign or another site, and
 * never by a direct one. Held by test/unit/browser-touches.test.ts.
 */
import { readJson, write } from './storage.ts'

type Campaign = 'source' | 'medium' | 'campaign' | 'content' | 'svc_link_id' | 'svc_post_id'

export type Touch = { [name in Campaign]?: string } & { referrer?: string; url: string; at: string }

/** A pageview as touches need it. */
interface Arrival {
  readonly url: string
  readonly referrer: string
  readonly occurred_at: string
}

/**
 * Keeps the touch that a pageview is, if it is one.
 * @returns true where its campaign isn't that of the last touch: then another session begins
 */
export function recordTouch({ url, referrer, occurred_at: at }: Arrival): boolean | undefined {
  const page = new URL(url)
  const last = readJson<Touch>('svc_last')
  const touch: Touch = { url, at }
  let isNew: boolean | undefined
  // Links within the site aren't landings: their parameters may mean anything. But a landing's own script may send it on
  // to another page of the site, with what names the campaign. Bare names don't count then: sites keep their own.
  const from = new URL(referrer || 'a:')
  // For the first four `utm_` wins over the bare name.
  for (const name of ['svc_link_id', 'svc_post_id', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content']) {
    const field = name.replace('utm_', '') as Campaign
    const value = page.searchParams.get(name) || page.searchParams.get(field)
    if (value && (from.host !== page.host || from.searchParams.get(name) === value)) {
      touch[field] = value
      isNew = isNew || value !== last?.[field]
    }
  }
  if (referrer && from.host !== page.host) touch.referrer = referrer
  if (!readJson('svc_first')) write('svc_first', JSON.stringify(touch))
  if (Object.keys(touch)[last ? 2 : 0]) write('svc_last', JSON.stringify(touch))
  return isNew
}
