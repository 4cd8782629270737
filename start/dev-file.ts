/** DATA_DIR/dev.json: where everything is and with which keys, for tools on this machine. Only its owner may read it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const processNames = ['ingest', 'api', 'pipeline', 'clickhouse', 'postgres', 'redis'] as const
export type ProcessName = (typeof processNames)[number]
/** Null: it isn't running, or runs elsewhere. */
export type Pids = Record<ProcessName, number | null>

export interface DevFile {
  base_url: string
  /** Where the world reaches it. */
  api_host: string
  mcp_url: string
  /** The ingest service's own port, as a balancer would route it: without the front between. */
  tracking_url: string
  short_url_host: string
  tracking_key: string
  api_key: string
  workspace_id: number
  clickhouse_url: string
  database_url: string
  redis_url: string
  data_dir: string
  /** Whether the services were given both settings of mail. */
  has_mail: boolean
  pids: Pids
}

export function devFilePath(dataDir: string): string {
  return join(dataDir, 'dev.json')
}

/** The file that an earlier start wrote; empty when there is none that can be read. */
export function readDevFile(dataDir: string): Partial<DevFile> {
  const path = devFilePath(dataDir)
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DevFile
  } catch {
    return {}
  }
}

/** Replaced as a whole, so that a reader never sees half of it. */
export function writeDevFile(content: DevFile): void {
  const path = devFilePath(content.data_dir)
  const unfinished = `${path}.new`
  writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(unfinished, path)
}
