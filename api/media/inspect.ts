/**
 * Checks a file while it streams by, in pieces of any size, without keeping it. Finds whether it is whole, and its size
 * in pixels. A format is read by a generator that asks for the next bytes or has some passed over; what it returns is
 * the size.
 */
import { readIsoMedia } from './read-iso-media.ts'
import { readJpeg } from './read-jpeg.ts'
import { readPng } from './read-png.ts'
import type { MediaType } from './types.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** `take`: these bytes, next; `skip`: what comes after so many; `find`: what comes after the first such byte. */
export type ReadRequest = { readonly take: number } | { readonly skip: number } | { readonly find: number }

/** @returns the size, where it can be read; null: the bytes are none of the format's */
export type FormatReader = Generator<ReadRequest, Size | undefined | null, Buffer>

type Finding = { readonly isWhole: true; readonly size: Size | undefined } | { readonly isWhole: false }

export interface Inspection {
  push(chunk: Buffer): void
  /** When there is nothing more. */
  end(): Finding
}

const readers: Record<MediaType['contentType'], (state: ReaderState) => FormatReader> = {
  'image/jpeg': readJpeg,
  'image/png': readPng,
  'video/mp4': readIsoMedia,
  'video/quicktime': readIsoMedia,
}

/** The end of the file may be expected here: a reader that waits for more says with this that the file may end now. */
export interface ReaderState {
  mayEnd: boolean
  /** Read so far. */
  size: Size | undefined
}

const nothing: Buffer = Buffer.alloc(0)

export function inspect({ contentType }: MediaType): Inspection {
  const state: ReaderState = { mayEnd: false, size: undefined }
  const reader = readers[contentType](state)
  let step = reader.next()
  let buffered = nothing

  /** Answers the request from `buffered`. Undefined: more is needed. */
  function serve(request: ReadRequest): Buffer | undefined {
    if ('take' in request) {
      if (buffered.length < request.take) return undefined
      const taken = buffered.subarray(0, request.take)
      buffered = buffered.subarray(request.take)
      return taken
    }
    if ('find' in request) {
      const at = buffered.indexOf(request.find)
      buffered = at < 0 ? nothing : buffered.subarray(at + 1)
      return at < 0 ? undefined : nothing
    }
    return nothing
  }
  let toSkip = 0

  return {
    push(chunk) {
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
      while (!step.done) {
        const passed = Math.min(toSkip, buffered.length)
        toSkip -= passed
        buffered = buffered.subarray(passed)
        if (toSkip > 0) break
        const answer = serve(step.value)
        if (answer === undefined) break
        if ('skip' in step.value) toSkip = step.value.skip
        step = reader.next(answer)
      }
      // A copy of the few bytes that wait for more: a view would keep the whole chunk.
      buffered = step.done ? nothing : Buffer.from(buffered)
    },
    end() {
      if (step.done) return step.value === null ? { isWhole: false } : { isWhole: true, size: step.value }
      const isBetween = state.mayEnd && buffered.length === 0 && toSkip === 0
      return isBetween ? { isWhole: true, size: state.size } : { isWhole: false }
    },
  }
}
