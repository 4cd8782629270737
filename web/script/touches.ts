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
export function recordTouch({ url, referrer, occurred_at: at }: Arrival): boolean {
  const { searchParams, origin } = new URL(url)
  const last = readJson<Touch>('svc_last')
  const touch: Touch = { url, at }
  let isNew = false
  // Links within the site aren't landings: their parameters may mean anything.
  if (!referrer.startsWith(origin + '/')) {
    // Parameters of a landing that name a campaign; for the first four `utm_` wins over the bare name.
    for (const name of ['source', 'medium', 'campaign', 'content', 'svc_link_id', 'svc_post_id'] as const) {
      const value = searchParams.get(`utm_${name}`) || searchParams.get(name)
      if (value) {
        touch[name] = value
        isNew = isNew || value !== last?.[name]
      }
    }
    if (referrer) touch.referrer = referrer
  }
  if (!readJson('svc_first')) write('svc_first', JSON.stringify(touch))
  if (!last || Object.keys(touch)[2]) write('svc_last', JSON.stringify(touch))
  return isNew
}
