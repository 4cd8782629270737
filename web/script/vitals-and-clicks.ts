/**
 * The second file, fetched once the page has loaded or its visitor begins to act. It records clicks, measures web vitals
 * and starts the replay. Google's web-vitals reads the browser's own records, so a late start misses nothing. The first
 * report of each measurement counts, at the latest when the page is first hidden. So a page is one sample however often
 * its visitor comes back to it.
 */
import type { MetricType } from 'web-vitals'
import { onCLS } from 'web-vitals/onCLS.js'
import { onFCP } from 'web-vitals/onFCP.js'
import { onINP } from 'web-vitals/onINP.js'
import { onLCP } from 'web-vitals/onLCP.js'
import { describeClick, type Seen } from './clicks.ts'
import { startReplay } from './replay-start.ts'

declare const self: { readonly navigation?: EventTarget }

/**
 * @param moved the page's address has changed
 * @returns what takes clicks and submissions
 */
export default function watch(
  act: (name: string, properties: object, page?: object) => void,
  measured: (vital: object) => void,
  moved: () => void,
): (seen: Seen) => void {
  // The Navigation API changes addresses without the History API.
  self.navigation?.addEventListener('currententrychange', moved)
  const reported: Record<string, 1> = {}
  const take = ({ name, value, rating, id, navigationType }: MetricType) => {
    if (reported[id]) return
    reported[id] = 1
    // The library calls it from callbacks of its own, out of which nothing may be thrown into the page.
    try {
      measured({ metric: name, value, rating: rating.replace('-', '_'), id, navigation_type: navigationType })
    } catch {}
  }
  // A page may have replaced what the library needs. Clicks are recorded all the same.
  try {
    onFCP(take)
    onLCP(take)
    onINP(take)
    onCLS(take)
    startReplay()
  } catch {}
  return (seen) => {
    const found = describeClick(seen)
    if (found) act(...found, seen[2])
  }
}
