import { afterAll, beforeAll } from 'vitest'
import { sleep } from '../../runtime/retry.ts'
import { startService } from './service-process.ts'
import type { TestStores } from './stores.ts'
import { makeWorkspace } from './workspace.ts'

export interface IngestAnswer {
  readonly status: number
  readonly headers: Headers
  /** The members that answers of the tracking interface may have. */
  readonly body: {
    accepted?: boolean | number
    event_id?: number
    event_ids?: number[]
    deduplicated?: boolean | number
    rejected?: { index: number; detail: unknown }[]
    excluded?: { index: number; reason: string }[]
    reason?: string
    detail?: unknown
  }
}

export type TestIngest = Awaited<ReturnType<typeof startIngest>>

const shippedWithinMs = 120_000
const healthWithinMs = 5_000
const askAgainMs = 20

/**
 * Waits until an ingest has stored all that it has acknowledged, also one that is being started again.
 * @param url root of its tracking interface
 */
export async function untilShipped(url: string, log = () => ''): Promise<void> {
  const deadline = Date.now() + shippedWithinMs
  while (!(await backlogOf(url))?.every(({ segments }) => segments === 0)) {
    if (Date.now() > deadline) throw new Error(`not shipped within two minutes: ${log()}`)
    await sleep(askAgainMs)
  }
}

/** By stream; undefined while it doesn't answer. */
async function backlogOf(url: string): Promise<{ segments: number }[] | undefined> {
  return healthOf(url, AbortSignal.timeout(healthWithinMs))
    .then(({ backlog }) => Object.values(backlog))
    .catch(() => undefined)
}

interface Health {
  readonly status: string
  readonly reason: string | null
  readonly backlog: Record<string, { segments: number; bytes: number }>
}

async function healthOf(url: string, signal?: AbortSignal): Promise<Health & { code: number }> {
  const answer = await fetch(`${url}/health`, signal && { signal })
  return { code: answer.status, ...((await answer.json()) as Health) }
}

/** An ingest for the tests of a file, filled in before the first of them begins. */
export function setUpIngest(stores: TestStores, env: Record<string, string> = {}): TestIngest {
  const ingest = {} as TestIngest
  beforeAll(async () => {
    Object.defineProperties(ingest, Object.getOwnPropertyDescriptors(await startIngest(stores, env)))
  })
  afterAll(() => ingest.stop?.())
  return ingest
}

/** @param node of an earlier ingest, to send to its workspace */
export async function startIngest(
  stores: TestStores,
  env: Record<string, string> = {},
  node?: { readonly key: string; readonly workspaceId: number },
) {
  const { key, workspaceId } = node ?? (await makeNode(stores))
  const service = await startService('ingest/main.ts', stores, env, 'pipe')
  const { child, port, stop } = service
  /** Root of the tracking interface. */
  const url = `${service.url}/api/v1/growth`
  const metrics = async () => (await fetch(`${service.url}/metrics`)).text()
  return {
    port,
    url,
    key,
    workspaceId,
    child,
    stop,
    get log() {
      return service.log
    },
    async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<IngestAnswer> {
      const response = await fetch(url + path, {
        method: 'POST',
        body: typeof body === 'string' || Buffer.isBuffer(body) ? (body as string) : JSON.stringify(body),
        headers: { 'Content-Type': 'application/json', ...headers },
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') ? JSON.parse(text) : text,
      }
    },
    /** Its own report of itself; `code` is that of the answer. */
    health: () => healthOf(url),
    metrics,
    /** Counts of a counter by one of its labels. */
    async counted(counter: string, label = 'reason'): Promise<Record<string, number>> {
      const found = (await metrics()).matchAll(new RegExp(`^${counter}\\{.*${label}="(\\w+)".*\\} (\\d+)$`, 'gm'))
      return Object.fromEntries([...found].map(([, value, count]) => [value!, Number(count)]))
    },
    /** Waits until all that it has acknowledged is stored. */
    shipped: () => untilShipped(url, () => service.log),
  }
}

async function makeNode(stores: TestStores): Promise<{ key: string; workspaceId: number }> {
  const { trackingKey, workspaceId } = await makeWorkspace(stores, { timezone: 'Europe/Berlin' })
  return { key: trackingKey, workspaceId }
}
