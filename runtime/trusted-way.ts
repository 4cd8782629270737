/** Over which URLs something may come, or a secret go. */

/** Over http only from this machine itself: on any other way somebody could change what comes. */
export function isTrustedWay(url: URL): boolean {
  const isHere = url.hostname === 'localhost' || url.hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}
