import { expect, test } from 'vitest'
import { readConfig, SettingError } from '../../runtime/config.ts'

test.each(['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL'])(
  'a %s that can’t be read isn’t shown, for its password',
  (name) => {
    const read = () => readConfig({ [name]: 'postgres://svc:pa#ssw0rd@db/svc' })
    expect(read).toThrow(SettingError)
    expect(read).toThrow(new RegExp(`^${name} must be a URL`))
    expect(read).not.toThrow(/ssw0rd/)
  },
)
