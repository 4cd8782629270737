/** Starts R beside an installation, on the same core. */
import { join } from 'node:path'
import { type BenchChild, startChild } from './child.ts'
import type { Cores } from './cores.ts'
import type { Installation } from './installation.ts'
import type { Side } from './round.ts'

export function startReference(folder: string, cores: Cores | string): Promise<BenchChild> {
  return startChild({
    file: 'bench/reference-server.js',
    cores,
    side: 'server',
    logFile: join(folder, 'logs', 'reference.log'),
  })
}

export function referenceSide({ port, pid }: BenchChild, { folder, trackingKey }: Installation): Side {
  return { name: 'reference', port, path: '/api/v1/growth/track', trackingKey, server: pid, stores: [], folder }
}

export function productSide(
  { ingest, stores, folder, trackingKey }: Installation,
  path: 'track' | 'track/batch',
): Side {
  const { port, pid } = ingest
  return { name: 'product', port, path: `/api/v1/growth/${path}`, trackingKey, server: pid, stores, folder }
}
