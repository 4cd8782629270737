/**
 * Reads a form (multipart/form-data, RFC 7578) while it arrives. Each part is a stream that is read before the next
 * part is asked for. Memory is bounded by a part's head and the chunks of the body. No package is used. Existing ones
 * accept bytes that are no UTF-8, read a file without a name as a text, or refuse control characters in names.
 *
 *   preamble | CRLF --boundary CRLF head CRLF CRLF content | … | CRLF --boundary-- epilogue
 *
 * Held by test/property/multipart.test.ts and test/integration/media-upload.test.ts.
 */
import { formHeadBytesMax, formPartsMax } from '../../schemas/limits/media-limits.ts'

export interface Part {
  /** Empty where there is none. */
  readonly name: string
  /** Undefined: the part is no file. It may be empty. */
  readonly filename: string | undefined
  /** Lower case, without parameters. */
  readonly contentType: string
  /** Read to its end, or not at all: then it is skipped. */
  readonly content: AsyncIterable<Buffer>
}

/** It is no form, or ends before its closing boundary, as an empty body does. */
export class FormFault extends Error {
  override name = 'FormFault'

  constructor(readonly reason: 'malformed' | 'cut') {
    super(`the form is ${reason}`)
  }
}

/** Undefined: the type names none. */
export function boundaryOf(contentType: string): string | undefined {
  const end = contentType.indexOf(';')
  return (end === -1 ? undefined : readParameters(contentType.slice(end))?.get('boundary')) || undefined
}

/** @throws FormFault; whatever ends the body */
export async function* readParts(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Part> {
  const source = new Source(body, Buffer.from(`\r\n--${boundary}`, 'latin1'))
  await drain(source.untilDelimiter()).catch((error) => {
    throw error instanceof FormFault && source.hasBytes ? new FormFault('malformed') : error
  })
  // Parts without a name count, too: each is a few bytes of the body, and takes microseconds of the one thread that all share.
  for (let parts = 1; !(await source.isClosed()); parts++) {
    if (parts > formPartsMax) throw new FormFault('malformed')
    const head = readHead(await source.head())
    const content = source.untilDelimiter()
    if (head !== undefined) yield { ...head, content }
    await drain(content)
  }
  await source.skipRest()
}

const crlf = Buffer.from('\r\n')
const endOfHead = Buffer.from('\r\n\r\n')

/** The body with a place in it. */
class Source {
  hasBytes = false
  readonly #chunks: AsyncIterator<Buffer>
  readonly #delimiter: Buffer
  /** Bytes that have been read and not handed on. A form may begin with its boundary, without a line before it. */
  #buffered: Buffer = crlf

  constructor(body: AsyncIterable<Buffer>, delimiter: Buffer) {
    this.#chunks = body[Symbol.asyncIterator]()
    this.#delimiter = delimiter
  }

  /** The bytes up to the next delimiter, behind which the place is then. */
  async *untilDelimiter(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#buffered.indexOf(this.#delimiter)
      // The held bytes may end with the beginning of a delimiter.
      const safe = at === -1 ? this.#buffered.length - this.#delimiter.length + 1 : at
      if (safe > 0) {
        const bytes = this.#buffered.subarray(0, safe)
        this.#buffered = this.#buffered.subarray(safe)
        yield bytes
      }
      if (at !== -1) {
        this.#buffered = this.#buffered.subarray(this.#delimiter.length)
        return
      }
      await this.#readMore()
    }
  }

  /** Behind a delimiter: whether it was the last. */
  async isClosed(): Promise<boolean> {
    while (this.#buffered.length < 2) await this.#readMore()
    return this.#buffered.toString('latin1', 0, 2) === '--'
  }

  /** The lines behind a delimiter up to the empty one, with what stands behind the delimiter itself as the first. */
  async head(): Promise<string> {
    let at = this.#buffered.indexOf(endOfHead)
    while (at === -1) {
      if (this.#buffered.length > formHeadBytesMax) throw new FormFault('malformed')
      await this.#readMore()
      at = this.#buffered.indexOf(endOfHead)
    }
    if (at > formHeadBytesMax) throw new FormFault('malformed')
    const head = this.#buffered.toString('utf8', 0, at)
    this.#buffered = this.#buffered.subarray(at + endOfHead.length)
    return head
  }

  async skipRest(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }

  async #readMore(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done) throw new FormFault('cut')
    this.hasBytes ||= value.length > 0
    this.#buffered = this.#buffered.length === 0 ? value : Buffer.concat([this.#buffered, value])
  }
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}

/** Undefined of a part that is no field of a form. */
function readHead(head: string): Omit<Part, 'content'> | undefined {
  const [padding, ...lines] = head.split('\r\n')
  if (padding!.trim() !== '') throw new FormFault('malformed')
  const headers = new Map(lines.map((line) => [nameOf(line), line.slice(line.indexOf(':') + 1).trim()]))
  const [disposition, parameters] = split(headers.get('content-disposition') ?? '')
  if (disposition !== 'form-data') return undefined
  const [contentType] = split(headers.get('content-type') ?? '')
  const filename = readExtended(parameters.get('filename*')) ?? parameters.get('filename')
  return { name: parameters.get('name') ?? '', filename, contentType: contentType || 'text/plain' }
}

function nameOf(line: string): string {
  const name = /^([!#$%&'*+.^\w`|~-]+):/.exec(line)?.[1]
  if (name === undefined) throw new FormFault('malformed')
  return name.toLowerCase()
}

/** A value and its parameters. */
function split(header: string): [string, ReadonlyMap<string, string>] {
  const end = header.indexOf(';')
  const value = (end === -1 ? header : header.slice(0, end)).trim().toLowerCase()
  const parameters = readParameters(end === -1 ? '' : header.slice(end))
  if (parameters === undefined) throw new FormFault('malformed')
  return [value, parameters]
}

const parameterPattern = /\s*;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/sy

/** By name in lower case, from the first semicolon on; undefined where they can't be read. */
function readParameters(text: string): ReadonlyMap<string, string> | undefined {
  const parameters = new Map<string, string>()
  let end = 0
  parameterPattern.lastIndex = 0
  for (let found = parameterPattern.exec(text); found !== null; found = parameterPattern.exec(text)) {
    const [, name, quoted, token = ''] = found
    parameters.set(name!.toLowerCase(), quoted === undefined ? token : quoted.replace(/\\(["\\])/g, '$1'))
    end = parameterPattern.lastIndex
  }
  return /^[\s;]*$/.test(text.slice(end)) ? parameters : undefined
}

/** `utf-8''caf%C3%A9.png` (RFC 5987); undefined where it isn't that. */
function readExtended(value: string | undefined): string | undefined {
  const [, charset, encoded] = /^([\w-]+)'[\w-]*'(.*)$/s.exec(value ?? '') ?? []
  if (charset === undefined || !/^(utf-8|iso-8859-1)$/i.test(charset)) return undefined
  const bytes = Buffer.from(
    encoded!.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return bytes.toString(charset.toLowerCase() === 'utf-8' ? 'utf8' : 'latin1')
}
