/** Runs a command line of `svc` in this process, with an environment of its own. */
import { runCommandLine } from '../../cli/run.ts'
import { testApiHost } from './api.ts'
import type { TestStores } from './stores.ts'

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

export async function runSvc(
  words: readonly string[],
  env: Record<string, string>,
  signal = new AbortController().signal,
  clickhouseHelloMs?: number,
): Promise<Said> {
  let out = ''
  let err = ''
  const terminal = {
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runCommandLine(words, terminal, signal, env, clickhouseHelloMs)
  return { code, out, err }
}

/** The settings by which a command finds the stores of a test. */
export function storeSettings({ databaseUrl, clickhouseUrl, redisUrl, secretKey }: TestStores) {
  return { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, REDIS_URL: redisUrl, SECRET_KEY: secretKey }
}

/** `svc … --json`, on the stores of a test and the secret and host of its API. */
export async function svcOn(stores: TestStores, ...words: string[]) {
  const { code, out, err } = await runSvc([...words, '--json'], {
    ...storeSettings(stores),
    // Platforms of tests are on this machine.
    API_HOST: testApiHost,
    ALLOW_PRIVATE_TARGETS: 'true',
  })
  return { code, err, json: out === '' ? undefined : JSON.parse(out) }
}
