/** The text of a feed: by its byte order mark, the header, or the XML's own declaration. */

/** @param contentType as the header has it */
export function decodeText(body: Buffer, contentType: string): string {
  const declared = /^[^<]{0,8}<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(
    body.subarray(0, 256).toString('latin1'),
  )?.[1]
  const sent = /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType)?.[1]
  // A declaration that was read byte by byte isn't in UTF-16, whatever it says.
  const believed = /^utf-?16/i.test(declared ?? '') ? undefined : declared
  // The first that fits: headers often say UTF-8 of texts whose own declaration is right.
  for (const label of [markOf(body), sent, believed, 'utf-8', 'windows-1252']) {
    if (label === undefined) continue
    try {
      return new TextDecoder(label, { fatal: true }).decode(body)
    } catch {
      // It has another encoding, or one of a name that nobody knows.
    }
  }
  return body.toString('utf8')
}

function markOf(body: Buffer): string | undefined {
  const [first, second] = body
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return body.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? 'utf-8' : undefined
}
