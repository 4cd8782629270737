/** The disk of DATA_DIR, where ingest keeps what it has acknowledged, and what it has put aside there. */
import { existsSync } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { retiredBytesMax } from '../../schemas/limits/log-limits.ts'
import type { Installation } from '../installation.ts'
import { bytesText, type Finding, failed, ok, warning } from './finding.ts'

export async function examineDisk({ config, dataDir }: Installation): Promise<Finding[]> {
  const folder = join(dataDir, 'ingest')
  if (!existsSync(folder)) {
    return [warning('disk', `no ingest node has its folder in ${dataDir}: run this where one runs (DATA_DIR names it)`)]
  }
  const { bavail, bsize, type } = await statfs(folder)
  const files = await filesIn(folder)
  return [judge(bavail * bsize, files.bytes, config), ...passing(type), putAside(files.putAside, folder)]
}

/** Linux's numbers of kinds of file systems. */
const tmpfs = 0x01021994
const overlayfs = 0x794c7630

/** Acknowledged events must outlive the machine's power and the container. */
function passing(type: number): Finding[] {
  const mend = 'put DATA_DIR on a durable disk'
  if (type === tmpfs) return [failed('disk', `ingest's folder lies in memory and is gone with the power: ${mend}`)]
  if (type === overlayfs) return [warning('disk', `ingest's folder lies in a container and goes with it: ${mend}`)]
  return []
}

function judge(free: number, used: number, { diskFreeBytesMin, logBytesMax }: Installation['config']): Finding {
  const text = `${bytesText(free)} are free for ingest`
  if (free < diskFreeBytesMin) {
    const why = `below the ${bytesText(diskFreeBytesMin)} of DISK_FREE_BYTES_MIN it answers 503: make room`
    return failed('disk', `${text}, ${why}`)
  }
  // Files that are kept for a while lie there beside the backlog.
  const room = free + used - diskFreeBytesMin - retiredBytesMax
  if (room >= logBytesMax) return ok('disk', text)
  const why = 'the disk is full before an outage of ClickHouse has filled the log'
  return warning('disk', `${text}, ${why}: make room, or lower LOG_BYTES_MAX of ${bytesText(logBytesMax)}`)
}

function putAside(count: number, folder: string): Finding {
  if (count === 0) return ok('ingest.set-aside', 'nothing was set aside')
  return warning('ingest.set-aside', `${count} rows or groups lie in set-aside below ${folder}: docs/operations.md`)
}

/** Ingest may take a file away while this looks. */
async function filesIn(folder: string): Promise<{ bytes: number; putAside: number }> {
  let bytes = 0
  let putAside = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      (found) => found.size,
      () => 0,
    )
    if (entry.parentPath.endsWith('set-aside') && entry.name.endsWith('.json')) putAside++
  }
  return { bytes, putAside }
}
