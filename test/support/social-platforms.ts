/** Platforms on this machine with a publisher, accounts there, and files to post with. */
import type { Dispatcher } from 'undici'
import { afterEach, beforeEach, expect } from 'vitest'
import { setUpApi, type TestApi, type TestWorkspace } from './api.ts'
import type { BlueskyServer } from './bluesky-server.ts'
import { svcOn } from './command-line.ts'
import { linkedinToken } from './linkedin-server.ts'
import type { MastodonServer } from './mastodon-server.ts'
import { pageToken } from './meta-server.ts'
import { endedPost, runPublisher, schedulePost, type TestPublisher } from './publisher.ts'
import { asking } from './publishing.ts'
import type { TestStores } from './stores.ts'
import { secretOf, type XServer } from './x-server.ts'

interface PlatformServer {
  /** For one that isn't reached by an address of this machine. */
  readonly agent?: Dispatcher
  /** Requests that break the platform's rules. */
  readonly faults: readonly unknown[]
  close(): Promise<void>
}

/** For each test of a file a workspace, a publisher and a platform, which finds no fault with what it is asked. */
export function setUpPublishing<Server extends PlatformServer>(start: (api: TestApi) => Promise<Server>) {
  const { stores, api, mine } = setUpApi()
  const ask = asking(api, () => mine.apiKey)
  const on = {} as { server: Server; publisher: TestPublisher }
  beforeEach(async () => {
    on.server = await start(api)
    on.publisher = runPublisher(stores, undefined, on.server.agent)
  })
  afterEach(async () => {
    await on.publisher.cut()
    await on.server.close()
    expect(on.server.faults).toEqual([])
  })
  return {
    stores,
    api,
    mine,
    ask,
    on,
    /** Schedules a post, and waits for its end. */
    publishNow: async (caption: string, account: number, media: readonly number[] = [], title?: string) =>
      endedPost(ask, await schedulePost(ask, { title, caption, accounts: [account], media })),
    upload: (bytes: Buffer, altText = '') => uploadFile(api, mine.apiKey, bytes, altText),
    accounts: async () => (await ask('GET', '/v1/social-accounts')).body,
  }
}

type Workspace = Pick<TestWorkspace, 'workspaceId'>

/** @param words the platform, and all that it wants */
export function connectTo(stores: TestStores, { workspaceId }: Workspace, ...words: string[]) {
  return svcOn(stores, 'accounts', 'connect', '--workspace', String(workspaceId), '--platform', ...words)
}

export const connectMastodon = (stores: TestStores, workspace: Workspace, { url, state }: MastodonServer) =>
  connectTo(stores, workspace, 'mastodon', '--url', url, '--secret', state.token)

export function connectBluesky(stores: TestStores, workspace: Workspace, { url, state }: BlueskyServer) {
  const words = ['--url', url, '--handle', state.handle, '--secret', state.password]
  return connectTo(stores, workspace, 'bluesky', ...words)
}

export const connectX = (stores: TestStores, workspace: Workspace, { url, state }: XServer) =>
  connectTo(stores, workspace, 'x', '--url', url, '--secret', secretOf(state.keys))

/** @param words `--page`, or another secret */
export const connectLinkedin = (stores: TestStores, workspace: Workspace, ...words: string[]) =>
  connectTo(stores, workspace, 'linkedin', ...withSecret(words, linkedinToken))

/** @param words the platform, and its own */
export const connectMeta = (stores: TestStores, workspace: Workspace, ...words: string[]) =>
  connectTo(stores, workspace, ...withSecret(words, pageToken))

const withSecret = (words: readonly string[], secret: string) =>
  words.includes('--secret') ? words : [...words, '--secret', secret]

/** Uploads a PNG, a JPEG or a film. @returns its id */
export async function uploadFile(api: Pick<TestApi, 'ask'>, key: string, bytes: Buffer, altText = ''): Promise<number> {
  const type = bytes[0] === 0x89 ? 'image/png' : bytes[0] === 0xff ? 'image/jpeg' : 'video/mp4'
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bytes)], { type }), `a.${type.split('/')[1]}`)
  form.append('alt_text', altText)
  const response = await api.ask('/v1/media', { method: 'POST', key, body: form })
  const body = (await response.json()) as { id: number }
  if (response.status !== 200) throw new Error(`not uploaded: ${JSON.stringify(body)}`)
  return body.id
}
