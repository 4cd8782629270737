/** Reading the event log at start, beside a plain sequential read of the same files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DedupWindow } from '../../ingest/log/dedup-window.ts'
import { diskIo, LogFiles } from '../../ingest/log/files.ts'
import { recoverLog } from '../../ingest/log/recover.ts'
import { LogWriter } from '../../ingest/log/writer.ts'
import { makeLog } from '../../runtime/log.ts'
import { type EventRow, eventColumns, type Hash64, streams } from '../../schemas/event/row.ts'
import { logFileBytes } from '../../schemas/limits/log-limits.ts'
import type { BenchSettings, ScenarioResult } from '../bench.ts'
import { atEnd } from '../clean-up.ts'
import { eventRow, eventRowBytes } from '../data/event-rows.ts'
import { median } from '../load/latency.ts'

const megabyte = 1_000_000
const stream = 'events'
const silent = makeLog('bench', 'silent')
const rowsPerGroup = 2_000
const dedupEntries = 1_000_000

interface Reading {
  readonly seconds: number
  readonly bytes: number
  readonly rows: number
}

export async function recover(settings: BenchSettings): Promise<ScenarioResult> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-log-'))
  const remove = atEnd(async () => rmSync(folder, { recursive: true, force: true }))
  try {
    const bytesWanted = settings.isShort ? 16 * megabyte : 300 * megabyte
    const rows = await fill(folder, bytesWanted)
    const rounds: { recovery: Reading; plain: Reading }[] = []
    // One more at first, which compiles the code and fills the page cache for both.
    for (let round = 0; round <= settings.rounds; round++) {
      const measured = { plain: await readPlain(folder), recovery: await readAsService(folder) }
      if (round === 0) continue
      rounds.push(measured)
      settings.say(
        `  recover ${Math.round(speed(measured.recovery))} MB/s, plain read ${Math.round(speed(measured.plain))} MB/s`,
      )
    }
    const isLost = rounds.some(({ recovery }) => recovery.rows !== rows)
    return {
      figures: [
        {
          measure: 'reading the log at start, claims included',
          value: median(rounds.map(({ recovery }) => speed(recovery))),
          unit: 'MB/s',
          firstStage: 80,
          goal: 150,
        },
        {
          measure: 'time of a plain sequential read of the same files ÷ that of reading the log',
          value: median(rounds.map(({ recovery, plain }) => plain.seconds / recovery.seconds)),
          unit: 'ratio',
        },
      ],
      counts: { sent: rows, acknowledged: rows, stored: isLost ? -1 : rows, repeated: 0 },
      remarks: [
        'The files lie in the page cache for both; MB are of groups, not of the unused ends of files.',
        `${rows} rows, each with a claim.`,
      ],
      settings: { bytes: bytesWanted, rowsPerGroup, dedupEntries },
      rounds,
    }
  } finally {
    await remove()
  }
}

function speed({ bytes, seconds }: Reading): number {
  return bytes / megabyte / seconds
}

/** Writes at least `bytesWanted` of rows as ingest does; returns how many rows. */
async function fill(folder: string, bytesWanted: number): Promise<number> {
  const { files } = await LogFiles.open(folder, logFileBytes, diskIo)
  let nextNumber = 1
  const writer = await LogWriter.open<EventRow>(
    {
      columns: eventColumns,
      rowBytesMax: streams.events.rowBytesMax,
      files,
      numbers: { take: () => nextNumber++ },
      io: diskIo,
      onSealed: () => {},
      onFirstRow: () => {},
      onUnused: () => {},
      onLeft: () => {},
      isLoaderBusy: () => false,
      onClaimLost: () => {},
      observeSync: () => {},
      log: silent,
    },
    0,
  )
  const rowsWanted = Math.ceil(bytesWanted / eventRowBytes)
  let rows = 0
  while (rows < rowsWanted) {
    // No room while the next file is being prepared.
    while (!writer.hasRoom(rowsPerGroup, rowsPerGroup * eventRowBytes * 2)) await new Promise((go) => setTimeout(go, 5))
    for (let at = 0; at < rowsPerGroup; at++, rows++) writer.append(eventRow(rows), claimOf(rows), null)
    const isDurable = await new Promise<boolean>((resolve) => writer.whenSynced(resolve))
    if (!isDurable) throw new Error('the log could not be written')
  }
  await writer.close()
  return rows
}

/** Spread as hashes are, and never zero. */
function claimOf(row: number): Hash64 {
  return { lo: (row * 2_654_435_761 + 1) >>> 0, hi: row + 1 }
}

/** Reads as the service does before it listens: ingest/ship/stream.ts. */
async function readAsService(folder: string): Promise<Reading> {
  const window = new DedupWindow(dedupEntries, 24 * 3_600_000, Date.now())
  const startedAt = performance.now()
  const { files, numbers } = await LogFiles.open(folder, logFileBytes, diskIo)
  const recovered = await recoverLog({
    stream,
    folder: 0,
    files,
    numbers,
    onClaim: (claim, id) => {
      if (window.find(claim) === 0) window.add(claim, id, Date.now())
    },
    setAside: async (name, reason) => {
      throw new Error(`${name}: ${reason}`)
    },
    log: silent,
  })
  const seconds = (performance.now() - startedAt) / 1000
  return { seconds, bytes: recovered.bytes, rows: recovered.segments.reduce((sum, segment) => sum + segment.rows, 0) }
}

async function readPlain(folder: string): Promise<Reading> {
  const { files, numbers } = await LogFiles.open(folder, logFileBytes, diskIo)
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024)
  const startedAt = performance.now()
  let bytes = 0
  for (const number of numbers) {
    const file = await open(files.pathOf(number))
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      bytes += bytesRead
    }
    await file.close()
  }
  return { seconds: (performance.now() - startedAt) / 1000, bytes, rows: 0 }
}
