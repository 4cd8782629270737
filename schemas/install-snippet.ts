/**
 * The snippet by which sites load the browser script: in the overview, on the demo's pages, and in the output of `npm
 * start`.
 */
import { escapeHtml } from './escape-html.ts'

/** The script's address with a workspace's public key. */
export function scriptUrlOf(apiHost: string, trackingKey: string): string {
  return `${apiHost}/svc.js?key=${trackingKey}`
}

/** The snippet for a page's HTML. */
export function snippetOf(scriptUrl: string): string {
  return `<script async src="${escapeHtml(scriptUrl)}"></script>`
}

/** The line for visitors without scripts, for a page's body. By the policy browsers name the page that shows the image. */
export function pixelSnippetOf(scriptUrl: string, trackingKey: string): string {
  const src = escapeHtml(`${scriptUrl.split('/svc.js', 1)[0]}/api/v1/growth/pixel?tracking_key=${trackingKey}`)
  return `<noscript><img src="${src}" alt="" width="1" height="1" referrerpolicy="no-referrer-when-downgrade"></noscript>`
}
