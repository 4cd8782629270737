/**
 * Finds traces of known addresses in bytes, whatever form they have there. The addresses share a prefix, so that one
 * look finds them all: as text, in hexadecimal, as a number, and as bytes in either order.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'

/** A household's and a machine's: `91.17.203.7`, `2a02:8070:5e1b:93c7::7`. */
export const ipv4Of = (last: number) => `91.17.203.${last}`
export const ipv6Of = (last: number) => `2a02:8070:5e1b:93c7:1d2f:8a6b:4c3d:2e${last.toString(16).padStart(2, '0')}`

export interface Trace {
  readonly place: string
  /** The trace, and the text around it. */
  readonly found: string
  /** The last byte of an address that is written in four bytes: what is as short as that may be there by chance. */
  readonly bare: number | null
}

type Form = readonly [needle: Buffer, bareAt: ((bytes: Buffer, at: number) => number | undefined) | null]

const first32Bits = 0x5b11cb00
const text = (value: string) => Buffer.from(value)
const hexBehind = (bytes: Buffer, at: number) => {
  const digits = bytes.toString('latin1', at + 6, at + 8)
  return /^[0-9a-f]{2}$/i.test(digits) ? Number.parseInt(digits, 16) : undefined
}
const forms: readonly Form[] = [
  [text('91.17.203.'), null],
  ...['2a02:8070:5e1b', '2A02:8070:5E1B', '2a0280705e1b', '2A0280705E1B'].map((form): Form => [text(form), null]),
  [Buffer.from('2a0280705e1b', 'hex'), null],
  [Buffer.from('1b5e7080022a', 'hex'), null],
  [text('5b11cb'), hexBehind],
  [text('5B11CB'), hexBehind],
  [Buffer.from('5b11cb', 'hex'), (bytes, at) => bytes[at + 3]],
  [Buffer.from('cb115b', 'hex'), (bytes, at) => (at === 0 ? undefined : bytes[at - 1])],
  [text(String(first32Bits).slice(0, 7)), decimalAt],
]

function decimalAt(bytes: Buffer, at: number): number | undefined {
  const number = Number(bytes.toString('latin1', at, at + 10))
  return number >= first32Bits && number < first32Bits + 256 ? number - first32Bits : undefined
}

export function tracesIn(bytes: Buffer, place: string): Trace[] {
  return forms.flatMap(([needle, bareAt]) => {
    const traces: Trace[] = []
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
      const bare = bareAt === null ? null : bareAt(bytes, at)
      if (bare === undefined) continue
      const found = bytes.toString('latin1', Math.max(0, at - 60), at + 60).replace(/[^\x20-\x7e]/g, '.')
      traces.push({ place, found, bare })
    }
    return traces
  })
}

const chunkBytes = 1024 * 1024
const overlapBytes = 64
const zeros = Buffer.alloc(chunkBytes)

/** Searches every file below the folder; a file or a folder that goes meanwhile has no traces. */
export function tracesInFiles(folder: string): { traces: Trace[]; files: number } {
  const paths = filesBelow(folder)
  const traces = paths.flatMap((path) => [
    ...tracesIn(Buffer.from(basename(path)), `the name of ${path}`),
    ...tracesInFile(path),
  ])
  return { traces, files: paths.length }
}

function filesBelow(folder: string): string[] {
  return unlessGone(() => readdirSync(folder, { withFileTypes: true }), []).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : []
  })
}

function unlessGone<T, U>(read: () => T, instead: U): T | U {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead
    throw error
  }
}

function tracesInFile(path: string): Trace[] {
  const traces: Trace[] = []
  const chunk = Buffer.alloc(chunkBytes)
  const file = unlessGone(() => openSync(path, 'r'), null)
  if (file === null) return traces
  try {
    for (let at = 0; ; at += chunkBytes - overlapBytes) {
      const length = readSync(file, chunk, 0, chunkBytes, at)
      const bytes = chunk.subarray(0, length)
      // Logs are allocated ahead of what is written to them.
      if (!bytes.equals(zeros.subarray(0, length))) traces.push(...tracesIn(bytes, path))
      if (length < chunkBytes) return traces
    }
  } finally {
    closeSync(file)
  }
}
