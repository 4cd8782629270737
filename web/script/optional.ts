/**
 * The second file for sites whose snippet asks for more than vitals and clicks: downloads, pages that are missing, and
 * searches on the site. Its own address says for which, as `svc.js?late=VERSION.7`. So the other sites' second file
 * doesn't grow. Each is an event beside the click or page view that it belongs to.
 */
import { downloadsBit, notFoundBit, ownClicksBit, searchBit } from '../../schemas/event/measurement-bits.ts'
import { describeClick, type Seen } from './clicks.ts'
import { describeDownload, fileTypes } from './downloads.ts'
import { guard, on } from './listen.ts'
import { watchAddresses } from './visited-addresses.ts'
import watch from './vitals-and-clicks.ts'

/** A hexadecimal digit, as the first file has no byte to spare. */
const chosen = Number.parseInt(/late=[\w-]*\.(\w)/.exec(import.meta.url)?.[1] || '0', 16)

/** @returns what takes clicks and submissions */
export default function watchMore(
  act: (name: string, properties: object, page?: object) => void,
  measured: (vital: object) => void,
  moved: () => void,
): (seen: Seen) => void {
  const types = fileTypes(optionOf('downloads'))
  const actOnFile = (properties: { href?: string }, page?: object) => {
    const file = chosen & downloadsBit ? describeDownload(properties, types) : undefined
    if (file) act('file_download', file, page)
  }
  if (chosen & (notFoundBit | searchBit))
    guard(watchAddresses)(act, chosen & notFoundBit, chosen & searchBit, optionOf('search'))
  if (chosen & ownClicksBit) {
    for (const type of ['click', 'auxclick'] as const) {
      on(type, (event) => actOnFile(describeClick([event, event.composedPath()])?.[1] || {}), true)
    }
  }
  return watch(
    (name, properties, page) => {
      act(name, properties, page)
      actOnFile(properties, page)
    },
    measured,
    moved,
  )
}

/** An attribute of the snippet: the site's own list. */
function optionOf(name: string): string | null | undefined {
  return document.querySelector(`script[data-svc-${name}]`)?.getAttribute(`data-svc-${name}`)
}
