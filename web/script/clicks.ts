/** Autocapture: what a click or a submission was. It reads no layout, and never a field's value. */
import { textLengthMax } from './bounds.ts'
import { addressOf } from './sessions.ts'

/** An event, what it went through, which is empty once it is over, and its page, where that may be another by now. */
export type Seen = readonly [event: Event, path: EventTarget[], page?: object]

const excluded = '[data-svc-block],.svc-block,[svc-no-capture],.svc-no-capture,[data-svc-ignore]'
/** Marked, or holds what was typed or is to be chosen from. */
const masked = '.svc-mask,[data-svc-mask],textarea,select,[contenteditable]'
const links = 'a[href],area[href]'
const wanted = {
  click: `${links},button,summary,[role=button],[role=menuitem],[role=switch],[role=tab],[type=button],[type=image],[type=reset],[type=submit]`,
  // The middle button opens a link in another tab; the right one only its menu.
  auxclick: links,
  submit: 'form',
}

export function describeClick([event, path]: Seen): [name: string, properties: object] | undefined {
  const selector = wanted[event.type as keyof typeof wanted]
  let found: Element | undefined
  let isMasked = false
  // Through shadow roots, too.
  for (const node of path as Element[]) {
    if (node.matches?.(excluded)) return
    isMasked ||= node.matches?.(masked)
    // A button within a link leads to where the link does.
    if (node.matches?.(found ? links : selector)) found = node
  }
  if (!found || (event as MouseEvent).button > 1) return
  const properties: Record<string, string> = {}
  for (const name of ['id', 'name', 'action', 'method']) {
    const value = found.getAttribute(name)
    if (value) properties[name] = addressOf(value)
  }
  if (event.type === 'submit') return ['form_submit', properties]
  // Its text is that of all that is in it, but for what nobody reads.
  if (!isMasked && !found.querySelector(`${masked},${excluded}`)) {
    let text = found.textContent!
    for (const { textContent } of found.querySelectorAll('style,script,noscript'))
      text = text.replace(textContent!, ' ')
    properties['text'] = shorten(text)
  }
  let url: URL | undefined
  try {
    // Without an address it is one that is refused.
    url = new URL(found.getAttribute('href') || '//[', found.baseURI)
    // A page that was opened with a password in its address hands it on to its links.
    url.username = url.password = ''
  } catch {}
  // A link to code, or to what the page has made, is no address.
  if (!url || /^(javascript|data|blob):/.test(url.href)) return ['button_click', properties]
  properties['href'] = addressOf(url.href)
  return [url.host === location.host ? 'link_click' : 'outbound_click', properties]
}

/** A text of the page on one line, cut. */
export function shorten(text: string): string {
  return [...text.trim().replace(/\s+/g, ' ')].slice(0, textLengthMax).join('')
}
