import { expect, test } from 'vitest'
import { readConfig, SettingError } from '../../runtime/config.ts'

test('a URL of a store that can’t be read isn’t shown, for its password', () => {
  for (const name of ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL']) {
    const read = () => readConfig({ [name]: 'postgres://svc:pa#ssw0rd@db/svc' })
    expect(read).toThrow(SettingError)
    expect(read).toThrow(new RegExp(`^${name} must be a URL`))
    expect(read).not.toThrow(/ssw0rd/)
  }
})

test('a URL of Postgres may have a socket in place of its host', () => {
  const DATABASE_URL = 'postgres://svc:pass@/svc?host=/cloudsql/project:region:name'
  expect(readConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL)
  expect(() => readConfig({ DATABASE_URL: 'postgres://svc:pass@/svc' })).toThrow(/^DATABASE_URL must be a URL/)
})

test('a `%` that stands for itself is told of at the start, by the name of its setting', () => {
  for (const [name, url] of [
    ['REDIS_URL', 'redis://:p%ss@db:6379/0'],
    ['CLICKHOUSE_URL', 'https://svc:p%ss@db:8443/svc'],
  ] as const) {
    const read = () => readConfig({ [name]: url })
    expect(read).toThrow(new RegExp(`^${name} must have \`%25\``))
    expect(read).not.toThrow(/p%ss/)
  }
  expect(readConfig({ DATABASE_URL: 'postgres://svc:p%ss@db/svc' }).databaseUrl).toMatch(/p%ss/)
})

test.each([
  [undefined, undefined],
  ['off', []],
  ['9.9.9.9', ['9.9.9.9']],
  ['127.0.0.1:5353, [2620:fe::fe]:53', ['127.0.0.1:5353', '[2620:fe::fe]:53']],
  ['2620:fe::fe', ['2620:fe::fe']],
])('BOT_DNS_SERVERS names servers, nobody or those of the system: %s', (text, servers) => {
  expect(readConfig(text === undefined ? {} : { BOT_DNS_SERVERS: text }).botDnsServers).toEqual(servers)
})

test.each(['dns.example.com', '9.9.9.9:0', '9.9.9.9:65536', '9.9.9', '9.9.9.9,', '[9.9.9.9', 'OFF', '9.9.9.9;1.1.1.1'])(
  'BOT_DNS_SERVERS that no server can be asked by is refused at the start: %s',
  (text) => {
    expect(() => readConfig({ BOT_DNS_SERVERS: text })).toThrow(/^BOT_DNS_SERVERS must be/)
  },
)

test('a root is the same with and without slashes at its end', () => {
  const root = 'https://go.example.com'
  for (const [sent, expected] of [root, `${root}/`, `${root}//`]
    .concat(`${root}\r`, ` ${root} `)
    .map((text) => [text, root])
    .concat([[`${root}/to/`, `${root}/to`]])) {
    expect(readConfig({ API_HOST: sent }).apiHost).toBe(expected)
    expect(readConfig({ SHORT_URL_HOST: sent }).shortUrlHost).toBe(expected)
  }
})

test('a host alone is told what is missing', () => {
  const read = (API_HOST: string) => () => readConfig({ API_HOST })
  for (const text of ['stats.example.com', 'localhost:8080'])
    expect(read(text)).toThrow(/^API_HOST must begin with http:\/\/ or https:\/\/$/)
})

test('a root that nothing can stand behind is refused, without its password', () => {
  const [root, withUser] = ['https://stats.example.com', 'https://a:pass@example.com']
  for (const text of [`${root}/?a=1`, `${root}#a`, `${root}/a b`, `${root}\\`, withUser]) {
    const read = () => readConfig({ API_HOST: text })
    expect(read).toThrow(/^API_HOST must end with/)
    expect(read).not.toThrow(/pass/)
  }
})

test('private targets are for development alone', () => {
  const read = (environment: Record<string, string>) => readConfig({ ALLOW_PRIVATE_TARGETS: 'true', ...environment })
  expect(read({}).allowPrivateTargets).toBe(true)
  expect(() => read({ NODE_ENV: 'production' })).toThrow('ALLOW_PRIVATE_TARGETS is for development alone')
  expect(() => read({ ALLOW_PRIVATE_TARGETS: 'yes' })).toThrow('ALLOW_PRIVATE_TARGETS must be')
  expect(readConfig({}).allowPrivateTargets).toBe(false)
})
