/** Unpacks the events of a stored chunk. Ingest has bounded their bytes, nodes and depth: parsing takes 170 ms at most. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { replayJsonBytesMax } from '../../../schemas/limits/replay-limits.ts'

const unpack = promisify(gunzip)

/** @param packed base64 of gzip of a JSON list */
export async function unpackEvents(packed: string): Promise<Record<string, unknown>[]> {
  const json = await unpack(Buffer.from(packed, 'base64'), { maxOutputLength: replayJsonBytesMax })
  return JSON.parse(json.toString('utf8'))
}
