/** Downloads: links to files, told by the extension in their path. Pure. */

/** Those that Plausible knows, too. */
const usualTypes =
  'pdf,xlsx,docx,txt,rtf,csv,exe,key,pps,ppt,pptx,7z,pkg,rar,gz,zip,avi,mov,mp4,mpeg,wmv,midi,mp3,wav,wma,dmg'

/** @param list extensions that a site names in place of the usual ones: `pdf, epub` */
export function fileTypes(list: string | null | undefined): string[] {
  return (list || usualTypes).toLowerCase().split(/[\s,.]+/)
}

/**
 * @param clicked what a click on a link was: see clicks.ts
 * @returns the same with the file's address, which has no query, and its extension; undefined for a link to no such file
 */
export function describeDownload<Clicked extends { href?: string }>(clicked: Clicked, types: readonly string[]) {
  // By scheme: `mailto:` has no path that names a file.
  const [href, extension] = /^https?:\/\/[^/?#]+\/[^?#]*\.(\w+)(?=[?#]|$)/i.exec(clicked.href || '') || []
  const type = extension?.toLowerCase()
  return type && types.includes(type) ? { ...clicked, href, extension: type } : undefined
}
