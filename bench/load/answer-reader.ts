/** Finds the HTTP answers in what a connection receives. Enough for answers with a Content-Length, as ours and R's are. */

const headEnd = Buffer.from('\r\n\r\n')
const lengthName = Buffer.from('\r\nContent-Length: ')
const statusAt = 'HTTP/1.1 '.length
const zero = 48

export class AnswerReader {
  /** The beginning of an answer whose rest is still to come. */
  private rest: Buffer | undefined

  /** `body` is valid during the call. */
  constructor(private readonly onAnswer: (status: string, body: () => string) => void) {}

  read(buffer: Buffer, length: number): void {
    const received = buffer.subarray(0, length)
    const bytes = this.rest ? Buffer.concat([this.rest, received]) : received
    this.rest = undefined
    let start = 0
    while (start < bytes.length) {
      const bodyStart = bytes.indexOf(headEnd, start) + headEnd.length
      const end = bodyStart < headEnd.length ? Number.POSITIVE_INFINITY : bodyStart + contentLength(bytes, start)
      if (end > bytes.length) {
        // A copy: the buffer is read into again.
        this.rest = Buffer.from(bytes.subarray(start))
        return
      }
      const status = bytes.toString('latin1', start + statusAt, start + statusAt + 3)
      this.onAnswer(status, () => bytes.toString('latin1', bodyStart, end))
      start = end
    }
  }
}

function contentLength(bytes: Buffer, start: number): number {
  const at = bytes.indexOf(lengthName, start)
  if (at < 0) throw new Error('an answer without Content-Length')
  let value = 0
  for (let digit = at + lengthName.length; bytes[digit]! >= zero; digit++) value = value * 10 + bytes[digit]! - zero
  return value
}
