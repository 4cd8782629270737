/**
 * Lines of the shipping journal, each with its own checksum.
 *
 *   <crc32 in hex> {"t":"boot","id":…}                  the machine's boot this process runs in
 *   <crc32 in hex> {"t":"frozen","m":manifest}          synced before anything of the manifest is sent
 *   <crc32 in hex> {"t":"loaded","id":…,"at":…}         done for ClickHouse, and when
 *   <crc32 in hex> {"t":"copied","id":…}                done for Postgres
 *   <crc32 in hex> {"t":"released","folder":…,"file":…} the log file is gone, and its segments are forgotten
 *   <crc32 in hex> {"t":"mark","lease":…,"through":…}   synced before a mark is published: see marks.ts
 *   <crc32 in hex> {"t":"repair","id":…}                synced before rows are inserted behind a published mark
 */
import { crc32 } from 'node:zlib'
import type { Manifest } from './manifest.ts'

export type JournalLine =
  | { t: 'boot'; id: string }
  | { t: 'frozen'; m: Manifest }
  | { t: 'loaded'; id: number; at: number }
  | { t: 'copied'; id: number }
  | { t: 'released'; folder: number; file: number }
  | { t: 'mark'; lease: number; through: number }
  | { t: 'repair'; id: number }

export function encodeLine(line: JournalLine): string {
  const json = JSON.stringify(line)
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
}

/** @returns null where the checksum is another */
export function decodeLine(text: string): JournalLine | null {
  const json = text.slice(9)
  if (crc32(json).toString(16).padStart(8, '0') !== text.slice(0, 8)) return null
  return JSON.parse(json) as JournalLine
}
