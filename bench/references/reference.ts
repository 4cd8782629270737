/** Starts R beside an installation, on the same core. */
import { join } from 'node:path'
import { type BenchChild, startChild } from '../child.ts'
import type { Installation } from '../installation.ts'
import type { Cores } from '../measure/cores.ts'
import type { Side } from '../measure/round.ts'

export function startReference(folder: string, cores: Cores | string): Promise<BenchChild> {
  return startChild({
    file: 'bench/references/reference-server.js',
    cores,
    side: 'server',
    logFile: join(folder, 'logs', 'reference.log'),
  })
}

export function referenceSide({ port, pid }: BenchChild, { folder, trackingKey }: Installation): Side {
  const trackingKeys = [trackingKey]
  return { name: 'reference', port, path: '/api/v1/growth/track', trackingKeys, server: pid, others: [], folder }
}

/** With the stores and all services that run beside ingest. */
export function productSide(
  installation: Installation,
  path: 'track' | 'track/batch',
  trackingKeys: readonly string[] = [installation.trackingKey],
): Side {
  const { port, pid } = installation.service('ingest')
  const others = installation.pidsBeside('ingest')
  const { folder } = installation
  return { name: 'product', port, path: `/api/v1/growth/${path}`, trackingKeys, server: pid, others, folder }
}
