/**
 * Chunks on their way, one after another. A chunk keeps its number over all tries, so that it counts once. A chunk that
 * can't be sent ends the recording: a replay with a hole in it shows a page that never was. When the page goes, the chunks
 * that fit into a beacon are sent all the same. The player says what is missing.
 */
import {
  chunkTriesMax,
  deadlineMs,
  keepaliveCharactersMax,
  packedCharactersMax,
  waitingCharactersMax,
} from '../bounds.ts'

/** The fields that all chunks of a page load share. */
export interface Recording {
  readonly tracking_key: string
  readonly page_id: string
  readonly anonymous_id: string
  readonly session_id: string
}

export interface Chunk {
  readonly sequence: number
  readonly url: string
  /** The events as JSON. */
  readonly text: string
}

export class Sender {
  private readonly waiting: Chunk[] = []
  private isBusy = false
  private isOver = false
  /** Characters as sent. */
  sent = 0

  constructor(
    private readonly address: URL,
    private readonly recording: Recording,
    private readonly pack: (text: string) => Promise<string>,
    private readonly onFailed: () => void,
  ) {}

  put(chunk: Chunk): void {
    this.waiting.push(chunk)
    if (this.waiting.reduce((sum, { text }) => sum + text.length, 0) > waitingCharactersMax) this.fail()
    else void this.work()
  }

  get hasChunks(): boolean {
    return this.waiting.length > 0
  }

  /** Forgets all that waits. */
  end(): void {
    this.isOver = true
    this.waiting.length = 0
  }

  /** The page goes, perhaps for good. @param packAtOnce without waiting @param bytesMax of a chunk that can still be sent */
  sendAtEnd(packAtOnce: (text: string) => string, bytesMax: number): void {
    for (const chunk of this.waiting) {
      if (chunk.text.length < bytesMax) navigator.sendBeacon?.(this.address, this.bodyOf(chunk, packAtOnce(chunk.text)))
    }
  }

  private async work(): Promise<void> {
    if (this.isBusy) return
    this.isBusy = true
    for (let tries = 0; this.waiting[0] && !this.isOver; ) {
      const chunk = this.waiting[0]
      const wait = await this.send(chunk).catch(() => 1)
      if (this.isOver) break
      if (wait === 0) {
        tries = 0
        if (this.waiting[0] === chunk) this.waiting.shift()
      } else if (wait < 0 || ++tries >= chunkTriesMax) this.fail()
      else await new Promise((resolve) => setTimeout(resolve, (wait + 2 ** tries * Math.random()) * 1000))
    }
    this.isBusy = false
  }

  /** @returns seconds after which to try again; 0: it has arrived; below 0: it never will */
  private async send(chunk: Chunk): Promise<number> {
    const body = this.bodyOf(chunk, await this.pack(chunk.text))
    if (body.length > packedCharactersMax) return -1
    if (this.isOver) return 0
    const { status, headers } = await fetch(this.address, {
      method: 'POST',
      body,
      credentials: 'omit',
      keepalive: body.length < keepaliveCharactersMax,
      signal: AbortSignal.timeout?.(deadlineMs),
    })
    if (status === 202) {
      this.sent += body.length
      return 0
    }
    return status > 499 || status === 429 || status === 408 ? +headers.get('Retry-After')! || 1 : -1
  }

  private bodyOf({ sequence, url }: Chunk, events: string): string {
    const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
    return JSON.stringify({ ...this.recording, sequence, url, timezone, sent_at: new Date().toISOString(), events })
  }

  private fail(): void {
    this.end()
    this.onFailed()
  }
}
