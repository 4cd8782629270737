/** Whether ingest can take events now: looked up a few times a second, asked for every request. */
import { statfs } from 'node:fs/promises'
import type { Log } from '../../runtime/log.ts'
import { trackingRefusals } from './tracking-refusals.ts'

const checkMs = 250

export interface Capacity {
  /** Why nothing can be taken now, or null. */
  refusal(): string | null
  close(): void
}

export interface CapacityOptions {
  readonly folder: string
  readonly logBytesMax: number
  readonly diskFreeBytesMin: number
  readonly backlogBytes: () => number
  readonly onChange: (reason: string | null) => void
  readonly log: Log
}

export function watchCapacity(options: CapacityOptions): Capacity {
  let reason: string | null = null

  async function check(): Promise<void> {
    const before = reason
    if (options.backlogBytes() > options.logBytesMax) {
      reason = trackingRefusals.logFull.detail
    } else {
      const { bavail, bsize } = await statfs(options.folder)
      reason = bavail * bsize < options.diskFreeBytesMin ? trackingRefusals.diskFull.detail : null
    }
    if (reason === before) return
    options.onChange(reason)
    options.log.warn({ reason }, reason === null ? 'events are taken again' : 'events are refused')
  }

  let timer = setTimeout(look, 0)
  let isClosed = false

  async function look(): Promise<void> {
    await check().catch((error) => options.log.error({ err: error }, 'the free disk space could not be read'))
    if (isClosed) return
    timer = setTimeout(look, checkMs)
    timer.unref()
  }

  return {
    refusal: () => reason,
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
