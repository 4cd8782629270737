/** The four media types, with names and signatures. The type is found by a file's first bytes, never by its name. */

export interface MediaType {
  readonly contentType: 'image/jpeg' | 'image/png' | 'video/mp4' | 'video/quicktime'
  readonly kind: 'image' | 'video'
  /** Endings of names; the first is given to files without one. */
  readonly extensions: readonly string[]
  /** Other names of the type that clients use. */
  readonly aliases: readonly string[]
}

const jpeg: MediaType = {
  contentType: 'image/jpeg',
  kind: 'image',
  extensions: ['jpg', 'jpeg', 'jpe', 'jfif'],
  aliases: ['image/jpg', 'image/pjpeg'],
}
const png: MediaType = { contentType: 'image/png', kind: 'image', extensions: ['png'], aliases: ['image/x-png'] }
const mp4: MediaType = {
  contentType: 'video/mp4',
  kind: 'video',
  extensions: ['mp4', 'm4v'],
  aliases: ['video/x-m4v', 'application/mp4'],
}
const mov: MediaType = { contentType: 'video/quicktime', kind: 'video', extensions: ['mov', 'qt'], aliases: [] }

/** So many bytes tell the type of any file that has as many. */
export const signatureBytes = 16

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Brands of ISO media files that are films in an MP4; others are pictures, sound or what phones made before. */
const mp4Brand = /^(iso[m2-9a-c]|mp4[12]|mp71|avc1|dash|M4V[ HP]|MSNV|XAVC|mmp4|cmf[2cfs]|[fF]4[vV] |hvc1|hev1)$/
/** First box types of old QuickTime files, which have no brand. */
const quickTimeBoxes = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot']

/** The type that the first bytes tell; undefined: none of the four. */
export function typeOf(head: Buffer): MediaType | undefined {
  if (head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff) return jpeg
  if (head.subarray(0, 8).equals(pngSignature)) return png
  const box = head.toString('latin1', 4, 8)
  const brand = head.toString('latin1', 8, 12)
  if (box === 'ftyp') return brand === 'qt  ' ? mov : mp4Brand.test(brand) ? mp4 : undefined
  return quickTimeBoxes.includes(box) ? mov : undefined
}

/**
 * An ending of a name: letters and digits that begin with a letter, so that `v1.2` has none. Blanks and dots behind it,
 * which some systems leave out of names, don't hide it.
 */
const extensionPattern = /\.([a-zA-Z][a-zA-Z0-9]{0,9})[\p{Z}.]*$/u
/** Types that senders declare when they know nothing of the file. */
const unknownTypes = ['', 'application/octet-stream', 'binary/octet-stream', 'text/plain']

/** Whether a file of this type may have the name and the declared type: either may say nothing. */
export function fitsDeclaration(
  { contentType, aliases, extensions }: MediaType,
  name: string,
  declared: string,
): boolean {
  const extension = extensionPattern.exec(name)?.[1]?.toLowerCase()
  if (extension !== undefined && !extensions.includes(extension)) return false
  const type = declared.toLowerCase()
  return type === contentType || aliases.includes(type) || unknownTypes.includes(type)
}

const unsafe = /[\p{C}"`<>:|?*\\/]+/gu

/** A name without folders, control characters and what means something to systems of files or HTML; it ends as its type does. */
export function safeName(name: string, { kind, extensions }: MediaType, lengthMax: number): string {
  const base = name.split(/[\\/]/).at(-1)!
  const found = extensionPattern.exec(base)
  const stem = base
    .slice(0, found?.index)
    .normalize('NFC')
    .replace(unsafe, '-')
    .replace(/\p{Z}+/gu, ' ')
    .replace(/^[-. ]+/, '')
  const ending = `.${found?.[1]?.toLowerCase() ?? extensions[0]}`
  // Shortened first: an expression for the end looks at each run of these in a name, as often as the run is long.
  const short = [...stem]
    .slice(0, lengthMax - ending.length)
    .join('')
    .replace(/[-. ]+$/, '')
  return `${short || kind}${ending}`
}
