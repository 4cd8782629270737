/** The only reader of the environment: typed, frozen, and failing at start with the name of the setting that is wrong. */
import { settings } from './settings.ts'

type Settings = typeof settings
export type Config = { readonly [K in keyof Settings]: ReturnType<Settings[K]['read']> }

/** A setting that can't be used: its message is one line that names it. */
export class SettingError extends Error {
  override name = 'SettingError'
}

/**
 * Reads all settings from `environment`, an empty text counting as unset.
 * @throws SettingError naming the first setting that is wrong
 */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const { config, wrong } = surveyConfig(environment)
  const [first] = wrong.values()
  if (first !== undefined) throw first
  return config
}

/**
 * Reads all settings, a wrong one as if it weren't set, for a command that names every fault.
 * @returns with `wrong` by the setting's name
 */
export function surveyConfig(environment: Record<string, string | undefined>): {
  config: Config
  wrong: ReadonlyMap<string, SettingError>
} {
  const config: Record<string, unknown> = {}
  const wrong = new Map<string, SettingError>()
  for (const [key, setting] of Object.entries(settings)) {
    try {
      config[key] = setting.read(environment[setting.name] || undefined)
    } catch (error) {
      config[key] = setting.read(undefined)
      wrong.set(setting.name, new SettingError(`${setting.name} ${(error as Error).message}`))
    }
  }
  const secretKey = config['secretKey'] as string
  if (secretKey !== '' && secretKey.length < 32) {
    config['secretKey'] = ''
    wrong.set('SECRET_KEY', new SettingError('SECRET_KEY must have at least 32 characters'))
  }
  if (config['allowPrivateTargets'] === true && config['nodeEnv'] === 'production') {
    config['allowPrivateTargets'] = false
    wrong.set(
      'ALLOW_PRIVATE_TARGETS',
      new SettingError('ALLOW_PRIVATE_TARGETS is for development alone: NODE_ENV is production'),
    )
  }
  return { config: Object.freeze(config) as Config, wrong }
}

/**
 * The stores of a service that runs by itself.
 * @throws SettingError naming the first one that isn't set
 */
export function requireStores(config: Config): {
  databaseUrl: string
  redisUrl: string
  clickhouseUrl: string
  secretKey: string
} {
  const { databaseUrl, redisUrl, clickhouseUrl, secretKey } = config
  if (!databaseUrl) throw new SettingError('DATABASE_URL must be set to run one service by itself')
  if (!redisUrl) throw new SettingError('REDIS_URL must be set to run one service by itself')
  if (!clickhouseUrl) throw new SettingError('CLICKHOUSE_URL must be set to run one service by itself')
  if (!secretKey) throw new SettingError('SECRET_KEY must be set to run one service by itself')
  return { databaseUrl, redisUrl, clickhouseUrl, secretKey }
}

/** The environment as a child process is to have it: this one's, with `extra` set (or, where undefined, left out). */
export function childEnvironment(extra: Record<string, string | undefined> = {}): Record<string, string> {
  const all = Object.entries({ ...process.env, ...extra })
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
}
