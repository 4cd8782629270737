/** Publishing by containers, and the links by which Meta fetches files. */
import { expect, test } from 'vitest'
import { makeCredentialsBox } from '../../pipeline/publishing/adapters.ts'
import {
  deleteCredentials,
  putCredentials,
  readCredentials,
  renewCredentials,
} from '../../postgres/tables/accounts/account-credentials.ts'
import { makeMediaLinks } from '../../runtime/crypto/media-link.ts'
import { metaListedMs, providerPollMs, threadsRenewMs } from '../../schemas/limits/publish-limits.ts'
import { makeWorkspace, testApiHost } from '../support/api.ts'
import { graphError } from '../support/container-server.ts'
import { film, jpeg, png } from '../support/media-files.ts'
import { startMeta, threadsToken, threadsUser } from '../support/meta-server.ts'
import { answerOnce, type Hindrance } from '../support/provider-server.ts'
import { endedPost, failed, resultOf, runPublisher, schedulePost } from '../support/publisher.ts'
import { connectMeta, setUpPublishing } from '../support/social-platforms.ts'

const { stores, api, mine, ask, on, publishNow, upload, accounts } = setUpPublishing((served) =>
  startMeta(async (url) => {
    expect(url.startsWith(`${testApiHost}/`)).toBe(true)
    return served.ask(url.slice(testApiHost.length))
  }),
)

const connect = async (secret = threadsToken) => connectMeta(stores, mine, 'threads', '--secret', secret)
const connectUser = async (): Promise<number> => (await connect()).json.id
const published = (text: string) => {
  const { id } = on.server.threads.find((one) => one.text === text)!
  const url = `https://www.threads.com/@${threadsUser.username}/post/${id}`
  return expect.objectContaining({ provider: 'threads', external_id: id, url })
}
const filesOf = async () => [
  await upload(jpeg({ width: 40 }), 'Ein Bär'),
  await upload(png({ width: 9 })),
  await upload(film({ data: 250_000 }), 'A film'),
]
/** Hinders the first requests that publish, in their order. */
function hinderFirst(...hindrances: Hindrance[]): void {
  on.server.hinder = ({ step }) => (step.endsWith('_publish') ? hindrances.shift() : undefined)
}

test('an account is connected by its token', async () => {
  expect((await connect()).json).toMatchObject({
    handle: `@${threadsUser.username}`,
    display_name: threadsUser.name,
    external_id: threadsUser.id,
    connection_type: 'oauth',
  })
  expect(await connect('other')).toMatchObject({ code: 1, err: expect.stringContaining('Session has expired') })
})

test('a text, an image, a video and a carousel are published with the files that Meta fetches, and their alternative texts', async () => {
  const account = await connectUser()
  const [photo, picture, movie] = (await filesOf()) as [number, number, number]
  const posts = await Promise.all([
    publishNow('Sale #now & "more"\nEnd', account),
    publishNow('One', account, [photo]),
    publishNow('Film', account, [movie]),
    publishNow('All', account, [movie, picture, photo]),
  ])
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption }) => published(base_caption)))
  expect(on.publisher.pauses).toContain(providerPollMs)
  const shownIn = (text: string) => {
    const { media } = on.server.threads.find((post) => post.text === text)!
    return media.map(({ contentType, altText, bytes }) => [contentType, altText, bytes.length])
  }
  const [first, second, third] = [
    ['image/jpeg', 'Ein Bär', jpeg({ width: 40 }).length],
    ['image/png', undefined, png({ width: 9 }).length],
    ['video/mp4', 'A film', film({ data: 250_000 }).length],
  ]
  expect(shownIn('One')).toEqual([first])
  expect(shownIn('Film')).toEqual([third])
  expect(shownIn('All')).toEqual([third, second, first])
  on.server.state.canPlay = false
  expect(resultOf(await publishNow('Unplayable', account, [movie]))).toEqual(failed('refused', 'INVALID_FRAME_RATE'))
})

test('a link to a file holds for an hour, for this file of this workspace alone', async () => {
  const [photo] = (await filesOf()) as [number]
  const links = makeMediaLinks(stores.secretKey)
  const { workspaceId } = mine
  const path = links.path({ workspaceId, mediaId: photo }, Date.now() + 60_000)
  const response = await api.ask(path)
  expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([200, jpeg({ width: 40 }).length])
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/jpeg',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
  })
  expect((await api.ask(path, { method: 'HEAD' })).status).toBe(200)
  expect((await api.ask(path, { method: 'PUT' })).status).toBe(405)
  const other = await makeWorkspace(stores)
  const gone = [
    links.path({ workspaceId, mediaId: photo }, Date.now()),
    links.path({ workspaceId: other.workspaceId, mediaId: photo }, Date.now() + 60_000),
    makeMediaLinks('another key').path({ workspaceId, mediaId: photo }, Date.now() + 60_000),
    path.replace(`.${photo}.`, `.${photo + 1}.`),
    path.slice(0, -1),
    '/media/',
  ]
  for (const each of gone) expect([each, (await api.ask(each)).status]).toEqual([each, 404])
})

test('files need an address of ours that Meta can reach; a text needs none', async () => {
  const account = await connectUser()
  const files = await filesOf()
  for (const apiHost of ['http://stats.example.com', 'https://10.0.0.7', '']) {
    await on.publisher.close()
    on.publisher = runPublisher(stores, undefined, on.server.agent, apiHost)
    expect(resultOf(await publishNow(`From ${apiHost}`, account, files))).toEqual(failed('invalid', 'set API_HOST'))
  }
  expect((await publishNow('A text', account)).status).toBe('published')
})

test('a post whose answer is lost is found though it is listed late, one that never came or wasn’t ready is sent again', async () => {
  const account = await connectUser()
  hinderFirst('cut after', 'cut before', graphError(24, 'The resource does not exist', { error_subcode: 4279009 }))
  const posts = await Promise.all(['A #topic', 'B #topic', 'C #topic'].map((caption) => publishNow(caption, account)))
  on.server.hinder = ({ step }) => {
    if (!step.endsWith('_publish')) return undefined
    answerOnce(on.server, 'GET /v1.0/:id/threads', { status: 200, body: { data: [] } })
    return 'cut after'
  }
  posts.push(await publishNow('Listed late', account, await filesOf()))
  expect(on.publisher.pauses).toContain(metaListedMs)
  expect(posts.map(resultOf)).toEqual(posts.map(({ base_caption }) => published(base_caption)))
  expect(on.server.threads).toHaveLength(4)
})

test('a token is renewed ahead of its end; one that can’t be is used until it is over', async () => {
  const account = await connectUser()
  const box = makeCredentialsBox(stores.secretKey)
  const age = () => {
    const aged = { accessToken: threadsToken, renewedAt: Date.now() - threadsRenewMs - 1 }
    return putCredentials(stores.pg, account, box.seal(JSON.stringify(aged)))
  }
  await age()
  expect((await publishNow('Too young', account)).status).toBe('published')
  expect(on.server.state.threadsToken).toBe(threadsToken)
  on.server.state.renewable = [threadsToken]
  const posts = await Promise.all(['a', 'b', 'c'].map((caption) => publishNow(caption, account)))
  expect(posts.map(({ status }) => status)).toEqual(posts.map(() => 'published'))
  expect(on.server.state.threadsToken).toBe(`${threadsToken}+`)
  await age()
  on.server.state.renewable = []
  const said = `No answer from /refresh_access_token?access_token=${threadsToken}`
  on.server.hinder = ({ step }) =>
    step === 'GET /refresh_access_token' ? { status: 502, body: { message: said } } : undefined
  const id = await schedulePost(ask, { caption: 'Over', accounts: [account] })
  const resultNow = async () =>
    (await ask('GET', `/v1/posts?before_id=${id + 1}&limit=1`)).body[0].targets[0].publish_result
  await expect.poll(resultNow).toMatchObject({ error: { message: expect.stringMatching(/access_token=…$/) } })
  on.server.hinder = () => undefined
  expect(resultOf(await endedPost(ask, id))).toEqual(failed('not_authorized', 'Session has expired'))
  expect(await accounts()).toMatchObject([{ status: 'expired', health_status: 'error' }])
  // A renewal that began before a disconnection writes nothing into the connection after it.
  const connectAnew = async () => {
    await deleteCredentials(stores.pg, account)
    await putCredentials(stores.pg, account, box.seal('{}'))
    return (await readCredentials(stores.pg, account))!.version
  }
  const before = await connectAnew()
  await connectAnew()
  expect(await renewCredentials(stores.pg, account, before, box.seal('{}'))).toBe(false)
})
