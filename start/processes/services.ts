/** The three services as children of the supervisor, each on a port of its own that it keeps over restarts. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../runtime/config.ts'
import { freePort } from '../stores/store.ts'
import { ownProgram } from './child-process.ts'
import type { Runnable } from './supervise.ts'

export type ServiceName = 'ingest' | 'api' | 'pipeline'

/** In the order in which they are started and stopped. */
export const serviceNames: readonly ServiceName[] = ['ingest', 'api', 'pipeline']

export interface ServiceSettings {
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
  name: ServiceName
  port: number
  runnable: Runnable
}

/** @param onShortDomains called with the hosts of all short domains, at each start of ingest and at each change */
export async function prepareServices(
  settings: ServiceSettings,
  onShortDomains: (hosts: readonly string[]) => void,
): Promise<Service[]> {
  const services: Service[] = []
  for (const name of serviceNames) {
    const port = await freePort()
    const runnable = ownProgram({
      name,
      file: serviceFile(name),
      args: [settings.dataDir],
      env: environmentOf(settings, port),
      logFile: join(settings.dataDir, 'logs', `${name}.log`),
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
function serviceFile(name: ServiceName): string {
  return fileURLToPath(new URL(`../../${name}/main.js`, import.meta.url))
}

function environmentOf(settings: ServiceSettings, port: number): Record<string, string> {
  return {
    PORT: String(port),
    LISTEN_HOST: '127.0.0.1',
    DATA_DIR: settings.dataDir,
    DATABASE_URL: settings.databaseUrl,
    REDIS_URL: settings.redisUrl,
    CLICKHOUSE_URL: settings.clickhouseUrl,
    SECRET_KEY: settings.secretKey,
    API_HOST: settings.apiHost,
    SHORT_URL_HOST: settings.shortUrlHost,
    TRUSTED_PROXIES: settings.trustedProxies.join(','),
    NODE_ENV: settings.nodeEnv,
  }
}
