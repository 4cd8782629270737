/** The pipeline as a process of its own over a test's stores, for tests that kill it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { compileService } from './compile.ts'
import type { TestStores } from './stores.ts'

export interface PipelineProcess {
  readonly child: ChildProcess
  /** Ends it with -9, and waits until it is gone. */
  kill(): Promise<void>
  /** Tells it to end. @returns its exit code */
  stop(): Promise<number | null>
}

let compiled: Promise<string> | undefined

/** @param env in place of what it would be given */
export async function startPipelineProcess(
  stores: TestStores,
  env: Record<string, string> = {},
): Promise<PipelineProcess> {
  compiled ??= compileService('pipeline/main.ts')
  const child = fork(await compiled, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...{ PORT: '0', LOG_LEVEL: 'silent', DATA_DIR: stores.dataDir, REDIS_URL: stores.redisUrl },
      ...{ DATABASE_URL: stores.databaseUrl, CLICKHOUSE_URL: stores.clickhouseUrl, SECRET_KEY: stores.secretKey },
      ...env,
    },
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  await once(child, 'message')
  return {
    child,
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
    stop: async () => {
      child.kill('SIGTERM')
      return (await exited)[0]
    },
  }
}
