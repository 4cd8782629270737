/**
 * All settings: name, parser, default and meaning. Only `runtime/config.ts` reads the environment. `docs/settings.md` shows
 * this table; test/contract/settings.test.ts compares the two.
 */
import { isIP } from 'node:net'
import { readMailFrom, readSmtpUrl } from './mail-settings.ts'
import { faultInStoreUrl } from './store-url.ts'

export interface Setting<T> {
  readonly name: string
  readonly meaning: string
  /** As shown in the documentation: the default in words. */
  readonly shownDefault: string
  /** Turns the text of the environment (undefined when unset or empty) into a value, or throws with the fault. */
  read(text: string | undefined): T
}

function setting<T>(name: string, shownDefault: string, meaning: string, read: Setting<T>['read']): Setting<T> {
  return { name, shownDefault, meaning, read }
}

function text(name: string, fallback: string, meaning: string): Setting<string> {
  return setting(name, fallback === '' ? '(none)' : `\`${fallback}\``, meaning, (value) => value ?? fallback)
}

function optionalUrl(name: string, protocols: string[], shownDefault: string, meaning: string) {
  return setting(name, shownDefault, meaning, (value) => {
    if (value === undefined) return undefined
    const fault = faultInStoreUrl(value, protocols)
    if (fault !== undefined) throw new Error(fault)
    return value
  })
}

/** The beginning of public addresses, without the slash that it may be given with. */
function publicRoot(name: string, shownDefault: string, meaning: string): Setting<string | undefined> {
  const { read } = optionalUrl(name, ['http:', 'https:'], shownDefault, meaning)
  return setting(name, shownDefault, meaning, (value) => {
    // A file of settings may end its lines in another way, and a URL is read without that.
    const root = read(value?.trim() || undefined)
    if (root === undefined) return undefined
    const { username, password } = new URL(root)
    if (username !== '' || password !== '' || /[?#\s\\]/.test(root)) {
      throw new Error('must end with the host, its port or a path: no user, no parameters and no spaces')
    }
    // Normalized as in browsers: the scheme and the host in lower case.
    return new URL(root).href.replace(/\/+$/, '')
  })
}

function integer(name: string, fallback: number, min: number, max: number, meaning: string): Setting<number> {
  return setting(name, `\`${fallback}\``, meaning, (value) => {
    if (value === undefined) return fallback
    const number = Number(value)
    if (!/^-?\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be a whole number from ${min} to ${max}, got \`${value}\``)
    }
    return number
  })
}

/** A moment with its offset, so that it means the same everywhere. */
function moment(name: string, meaning: string): Setting<Date | undefined> {
  return setting(name, '(none)', meaning, (value) => {
    if (value === undefined) return undefined
    const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value)
    if (isWhole && !Number.isNaN(Date.parse(value))) return new Date(value)
    throw new Error(`must be a time such as 2030-01-31T12:00:00Z, got \`${value}\``)
  })
}

function list(name: string, shownDefault: string, meaning: string): Setting<string[]> {
  return setting(name, shownDefault, meaning, (value) =>
    (value ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
}

/** Addresses and CIDR ranges, comma-separated. */
function ranges(name: string, shownDefault: string, meaning: string): Setting<string[]> {
  const { read } = list(name, shownDefault, meaning)
  return setting(name, shownDefault, meaning, (value) => {
    const all = read(value)
    for (const range of all) {
      const [address, bits = '0', ...more] = range.split('/') as [string, ...string[]]
      const family = isIP(address)
      if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) {
        throw new Error(`must hold addresses or CIDR ranges, got \`${range}\``)
      }
    }
    return all
  })
}

/** Undefined: the system's servers. An empty list: no DNS. */
function readDnsServers(value: string | undefined): string[] | undefined {
  if (value === undefined) return undefined
  if (value === 'off') return []
  return value.split(',').map((part) => {
    const server = part.trim()
    const [, ipv6, ipv4 = server, port = '53'] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(server) ?? []
    if (isIP(ipv6 ?? ipv4) !== 0 && Number(port) >= 1 && Number(port) <= 65_535) return server
    throw new Error(`must be \`off\` or addresses such as 192.0.2.1 or [2001:db8::1]:5353, got \`${server}\``)
  })
}

const placeDetails = ['city', 'region', 'country'] as const

function readPlaceDetail(value = 'city'): (typeof placeDetails)[number] {
  const detail = placeDetails.find((each) => each === value)
  if (detail === undefined) throw new Error(`must be city, region or country, got \`${value}\``)
  return detail
}

function rateLimit(name: string, plan: string): Setting<number> {
  const meaning = `Requests a minute that one API key of a workspace on the plan \`${plan}\` may make.`
  return integer(name, 600, 1, 1_000_000_000, meaning)
}

function mediaBytes(name: string, plan: string, fallbackGiB: number): Setting<number> {
  const meaning = `Bytes of media that a workspace on the plan \`${plan}\` may store.`
  return integer(name, fallbackGiB * 2 ** 30, 0, Number.MAX_SAFE_INTEGER, meaning)
}

export const settings = {
  port: integer('PORT', 8080, 0, 65535, 'Port that `npm start` or the one service listens on (0: any free one).'),
  listenHost: text('LISTEN_HOST', '127.0.0.1', 'Address to listen on; `0.0.0.0` in production behind a balancer.'),
  dataDir: text('DATA_DIR', './.data', 'Folder of the event log and, when embedded, of the stores.'),
  apiHost: publicRoot('API_HOST', '`http://localhost:PORT`', 'Public root of the API host.'),
  shortUrlHost: publicRoot('SHORT_URL_HOST', '`API_HOST/l`', 'Public root of short links, with a path or without.'),
  databaseUrl: optionalUrl('DATABASE_URL', ['postgres:', 'postgresql:'], 'embedded', 'Postgres 15 or newer.'),
  redisUrl: optionalUrl('REDIS_URL', ['redis:', 'rediss:'], 'embedded', 'Redis 7 or newer, or Valkey.'),
  clickhouseUrl: optionalUrl(
    'CLICKHOUSE_URL',
    ['http:', 'https:'],
    'embedded',
    'ClickHouse 25.6 or newer, with user, password and database in the URL.',
  ),
  secretKey: text(
    'SECRET_KEY',
    '',
    'Secret that keys the hashes of ids and encrypts stored secrets: ≥ 32 characters, the same on all nodes. Made and kept in `DATA_DIR` when embedded.',
  ),
  lostSecretKey: text(
    'LOST_SECRET_KEY',
    '',
    'Hash of a lost `SECRET_KEY`, as the refused start names it: the data is given up to the new key.',
  ),
  nodeEnv: text('NODE_ENV', 'development', 'With `production`, `npm start` requires `SECRET_KEY`.'),
  logLevel: setting('LOG_LEVEL', '`info`', '`debug`, `info`, `warn`, `error` or `silent`.', (value = 'info') => {
    if (!['debug', 'info', 'warn', 'error', 'silent'].includes(value))
      throw new Error(`must be debug, info, warn, error or silent, got \`${value}\``)
    return value
  }),
  trustedProxies: ranges(
    'TRUSTED_PROXIES',
    'loopback when embedded',
    'Addresses or CIDR ranges, comma-separated, whose `X-Forwarded-For` and headers of places are believed.',
  ),
  countryHeader: text(
    'COUNTRY_HEADER',
    'cf-ipcountry',
    'Header in which a trusted proxy names the ISO alpha-2 country. By it those of region and city are known.',
  ),
  countryDatabase: text(
    'COUNTRY_DATABASE',
    '',
    'MaxMind DB file that maps addresses to countries, or to cities, in place of the installed one; `off`: addresses are not looked up.',
  ),
  placeDetail: setting(
    'PLACE_DETAIL',
    '`city`',
    'How exactly it is stored where a visitor is: `city`, `region` or `country`.',
    readPlaceDetail,
  ),
  botDnsServers: setting(
    'BOT_DNS_SERVERS',
    'of the system',
    "DNS servers that verify crawlers' addresses: addresses, comma-separated, with `:port` where it isn't 53; `off`: no DNS checks.",
    readDnsServers,
  ),
  ingestWorkers: integer('INGEST_WORKERS', 1, 1, 16, 'Threads of ingest that receive events; 1: one thread does all.'),
  rateLimitStarter: rateLimit('RATE_LIMIT_STARTER', 'starter'),
  rateLimitGrowth: rateLimit('RATE_LIMIT_GROWTH', 'growth'),
  rateLimitScale: rateLimit('RATE_LIMIT_SCALE', 'scale'),
  idempotencyHours: integer(
    'IDEMPOTENCY_HOURS',
    72,
    1,
    8_760,
    'How long a retry with the same `Idempotency-Key` gets the first answer.',
  ),
  answerDeadlineMs: integer(
    'ANSWER_DEADLINE_MS',
    5_000,
    4_000,
    120_000,
    'How long an answer of the API waits for a store that hangs, before it is 503. A few answers at a time wait 3.5 times as long for figures while ClickHouse works at them.',
  ),
  mediaDir: text(
    'MEDIA_DIR',
    '',
    'Folder of uploaded media, one for all nodes of the API and the pipeline. `DATA_DIR/media` when not set.',
  ),
  mediaImageBytesMax: integer('MEDIA_IMAGE_BYTES_MAX', 25 * 2 ** 20, 1, 2 ** 31, 'Largest image that is accepted.'),
  mediaVideoBytesMax: integer('MEDIA_VIDEO_BYTES_MAX', 512 * 2 ** 20, 1, 2 ** 40, 'Largest video that is accepted.'),
  mediaBytesStarter: mediaBytes('MEDIA_BYTES_STARTER', 'starter', 10),
  mediaBytesGrowth: mediaBytes('MEDIA_BYTES_GROWTH', 'growth', 50),
  mediaBytesScale: mediaBytes('MEDIA_BYTES_SCALE', 'scale', 200),
  holdPostsBefore: moment(
    'HOLD_POSTS_BEFORE',
    'After a restore: posts of a time before this one become drafts in place of being published, and so do posts that feeds would queue of entries before it.',
  ),
  trackRatePerKey: integer(
    'TRACK_RATE_PER_KEY',
    0,
    0,
    1_000_000_000,
    'Events a second that one tracking key may send; 0: no limit.',
  ),
  replayBytesPerDay: integer(
    'REPLAY_BYTES_PER_DAY',
    20 * 2 ** 30,
    0,
    2 ** 44,
    'Bytes of replays that one workspace may store in a day (UTC); 0: no limit.',
  ),
  logBytesMax: integer(
    'LOG_BYTES_MAX',
    8 * 2 ** 30,
    64 * 2 ** 20,
    2 ** 44,
    'Bytes of event log that may wait for the stores before ingest answers 503.',
  ),
  diskFreeBytesMin: integer(
    'DISK_FREE_BYTES_MIN',
    256 * 2 ** 20,
    0,
    2 ** 44,
    'Free disk space below which ingest answers 503. Uploads do below four times as much.',
  ),
  dedupWindowHours: integer('DEDUP_WINDOW_HOURS', 24, 1, 168, 'How long a `client_event_id` is remembered.'),
  dedupLocalEntries: integer(
    'DEDUP_LOCAL_ENTRIES',
    1_000_000,
    1_000,
    50_000_000,
    'Ids remembered in the memory of one ingest node.',
  ),
  dedupClaimsMax: integer(
    'DEDUP_CLAIMS_MAX',
    50_000_000,
    1_000,
    10_000_000_000,
    'Ids remembered in Redis for all nodes.',
  ),
  claimWaitMs: integer(
    'CLAIM_WAIT_MS',
    600_000,
    0,
    86_400_000,
    'How long events with an id wait for Redis. After that only the local window detects repeats.',
  ),
  allowPrivateTargets: setting(
    'ALLOW_PRIVATE_TARGETS',
    '`false`',
    'For development: with `true`, requests may go to this machine and to private networks. It holds for webhooks, chat channels, feeds, pages of the company profile, cards of links and servers of social accounts. Webhooks and chat channels may use plain http. Refused with `NODE_ENV=production`.',
    (value = 'false') => {
      if (value !== 'true' && value !== 'false') throw new Error(`must be \`true\` or \`false\`, got \`${value}\``)
      return value === 'true'
    },
  ),
  smtpServer: setting(
    'SMTP_URL',
    '(none)',
    'Mail server for [reports](dashboard.md#reports-by-e-mail), [alerts](dashboard.md#traffic-alerts), mails about [failed posts](dashboard.md#failed-posts), [conversions and payments](dashboard.md#conversions-and-payments), [invitations](dashboard.md#members) and links to a [new password](dashboard.md#signing-in): `smtp://` or `smtps://`, with user and password where it asks for them.',
    readSmtpUrl,
  ),
  mailFrom: setting(
    'MAIL_FROM',
    '(none)',
    'Sender of these mails: `reports@example.com` or `Name <reports@example.com>`.',
    readMailFrom,
  ),
  retentionSweepMinutes: integer('RETENTION_SWEEP_MINUTES', 1440, 1, 10_080, 'How often expired data is deleted.'),
} as const
