/**
 * The snippet by which sites load the browser script: in the overview, on the demo's pages, and in the output of `npm
 * start`.
 */

/** The script's address with a workspace's public key. */
export function scriptUrlOf(apiHost: string, trackingKey: string): string {
  return `${apiHost}/svc.js?key=${trackingKey}`
}

/** The snippet for a page's HTML. */
export function snippetOf(scriptUrl: string): string {
  return `<script async src="${escapeHtml(scriptUrl)}"></script>`
}

/** A text as it stands in HTML, within an attribute as well. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (char) => entities[char]!)
}
