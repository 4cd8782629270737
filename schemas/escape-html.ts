/** Texts in HTML that is written by hand. */

/** A text as it stands in HTML, within an attribute as well. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replace(/[&<>"']/g, (char) => entities[char]!)
}
