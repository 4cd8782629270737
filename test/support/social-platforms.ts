/** Accounts on the platforms of this machine, and files to post with. */
import type { TestApi, TestWorkspace } from './api.ts'
import type { BlueskyServer } from './bluesky-server.ts'
import { svcOn } from './command-line.ts'
import { linkedinToken } from './linkedin-server.ts'
import type { MastodonServer } from './mastodon-server.ts'
import { pageToken } from './meta-server.ts'
import type { TestStores } from './stores.ts'
import { secretOf, type XServer } from './x-server.ts'

export function connectMastodon(
  stores: TestStores,
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  { url, state }: MastodonServer,
) {
  const words = ['--workspace', String(workspaceId), '--platform', 'mastodon', '--url', url, '--secret', state.token]
  return svcOn(stores, 'accounts', 'connect', ...words)
}

export function connectBluesky(
  stores: TestStores,
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  { url, state }: BlueskyServer,
) {
  const words = ['--workspace', String(workspaceId), '--platform', 'bluesky', '--url', url]
  return svcOn(stores, 'accounts', 'connect', ...words, '--handle', state.handle, '--secret', state.password)
}

export function connectX(
  stores: TestStores,
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  { url, state }: XServer,
) {
  const words = ['--workspace', String(workspaceId), '--platform', 'x', '--url', url, '--secret', secretOf(state.keys)]
  return svcOn(stores, 'accounts', 'connect', ...words)
}

/** @param words `--page`, or another secret */
export function connectLinkedin(
  stores: TestStores,
  { workspaceId }: Pick<TestWorkspace, 'workspaceId'>,
  ...words: string[]
) {
  const secret = words.includes('--secret') ? [] : ['--secret', linkedinToken]
  const account = ['--workspace', String(workspaceId), '--platform', 'linkedin']
  return svcOn(stores, 'accounts', 'connect', ...account, ...secret, ...words)
}

/** @param words the platform, and its own */
export function connectMeta(stores: TestStores, workspace: Pick<TestWorkspace, 'workspaceId'>, ...words: string[]) {
  const secret = words.includes('--secret') ? [] : ['--secret', pageToken]
  return connectTo(stores, workspace, ...words, ...secret)
}

/** @param words the platform, and all that it wants */
export function connectTo(stores: TestStores, { workspaceId }: Pick<TestWorkspace, 'workspaceId'>, ...words: string[]) {
  return svcOn(stores, 'accounts', 'connect', '--workspace', String(workspaceId), '--platform', ...words)
}

/** Uploads a file. @returns its id */
export async function uploadFile(
  api: Pick<TestApi, 'ask'>,
  key: string,
  bytes: Buffer,
  { type = 'image/png', altText = '' } = {},
): Promise<number> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(bytes)], { type }), `a.${type.split('/')[1]}`)
  form.append('alt_text', altText)
  const response = await api.ask('/v1/media', { method: 'POST', key, body: form })
  const body = (await response.json()) as { id: number }
  if (response.status !== 200) throw new Error(`not uploaded: ${JSON.stringify(body)}`)
  return body.id
}
