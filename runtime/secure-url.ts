/** Whether a URL is safe to fetch from, or to send a secret to. */

/** Over http only from this machine itself: on any other way somebody could change what comes. */
export function isSecureUrl(url: URL): boolean {
  const isHere = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}
