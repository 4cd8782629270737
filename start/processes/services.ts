/** The three services as children of the supervisor, each on a port of its own that it keeps over restarts. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../runtime/config.ts'
import { freePort } from '../stores/store.ts'
import { ownProgram } from './child-process.ts'
import type { Runnable } from './supervise.ts'

export type ServiceProcess = 'ingest' | 'api' | 'pipeline'

/** Stopped in this order: who takes in, who answers, who works behind. */
export const serviceNames: readonly ServiceProcess[] = ['ingest', 'api', 'pipeline']

export interface Surroundings {
  dataDir: string
  databaseUrl: string
  redisUrl: string
  clickhouseUrl: string
  secretKey: string
  /** Root under which the product is reached. */
  apiHost: string
  shortUrlHost: string
  trustedProxies: readonly string[]
  nodeEnv: Config['nodeEnv']
}

export interface Service {
  name: ServiceProcess
  port: number
  runnable: Runnable
}

/** @param onShortDomains told of the hosts of all short domains, at each start of ingest and at each change */
export async function prepareServices(
  around: Surroundings,
  onShortDomains: (hosts: readonly string[]) => void,
): Promise<Service[]> {
  const services: Service[] = []
  for (const name of serviceNames) {
    const file = serviceFile(name)
    if (!existsSync(file)) continue
    const port = await freePort()
    const runnable = ownProgram({
      name,
      file,
      args: [around.dataDir],
      env: environmentOf(around, port),
      logFile: join(around.dataDir, 'logs', `${name}.log`),
      ...(name === 'ingest' && { onMessage: (message) => readShortDomains(message, onShortDomains) }),
    })
    services.push({ name, port, runnable })
  }
  return services
}

function readShortDomains(message: unknown, onShortDomains: (hosts: readonly string[]) => void): void {
  const { type, hosts } = message as { readonly type?: string; readonly hosts?: readonly string[] }
  if (type === 'short_domains') onShortDomains(hosts ?? [])
}

/** The compiled main of a service. */
function serviceFile(name: ServiceProcess): string {
  return fileURLToPath(new URL(`../../${name}/main.js`, import.meta.url))
}

function environmentOf(around: Surroundings, port: number): Record<string, string> {
  return {
    PORT: String(port),
    LISTEN_HOST: '127.0.0.1',
    DATA_DIR: around.dataDir,
    DATABASE_URL: around.databaseUrl,
    REDIS_URL: around.redisUrl,
    CLICKHOUSE_URL: around.clickhouseUrl,
    SECRET_KEY: around.secretKey,
    API_HOST: around.apiHost,
    SHORT_URL_HOST: around.shortUrlHost,
    TRUSTED_PROXIES: around.trustedProxies.join(','),
    NODE_ENV: around.nodeEnv,
  }
}
