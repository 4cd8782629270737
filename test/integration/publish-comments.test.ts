/** The first comment under a post: once, whatever happens in between; and the post stays published without it. */
import { expect, test } from 'vitest'
import { testApiHost } from '../support/api.ts'
import { graphError } from '../support/container-server.ts'
import { pageUrn, startLinkedin } from '../support/linkedin-server.ts'
import { jpeg } from '../support/media-files.ts'
import { page, startMeta } from '../support/meta-server.ts'
import type { Asking, Hindrance } from '../support/provider-server.ts'
import { endedPost, scheduleForLater, schedulePost, toldTo } from '../support/publisher.ts'
import { makeAccount } from '../support/publishing.ts'
import { connectLinkedin, connectMeta, setUpPublishing } from '../support/social-platforms.ts'

const { stores, mine, ask, on, upload, accounts } = setUpPublishing(async (api) => {
  const meta = await startMeta((url) => api.ask(url.slice(testApiHost.length)))
  const linkedin = await startLinkedin()
  return {
    meta,
    linkedin,
    agent: linkedin.agent,
    get faults() {
      return [...meta.faults, ...linkedin.faults]
    },
    close: async () => {
      await linkedin.close()
      await meta.close()
    },
  }
})
const connectPage = async (platform: 'facebook' | 'instagram'): Promise<number> =>
  (await connectMeta(stores, mine, platform, '--page', page.id)).json.id
const connectOnLinkedin = async (...words: string[]): Promise<number> =>
  (await connectLinkedin(stores, mine, ...words)).json.id
const photo = () => upload(jpeg({ width: 40, height: 40 }), 'A')
const comment = 'All of it: https://example.com/all #sale'
const isCommenting = ({ step }: Asking) => step.startsWith('POST') && step.endsWith('/comments')

/** Hinders the first requests that publish a comment. */
function hinderComments(...hindrances: Hindrance[]): void {
  const { meta, linkedin } = on.server
  for (const server of [meta, linkedin]) {
    const left = [...hindrances]
    server.hinder = (asking) => (isCommenting(asking) ? left.shift() : undefined)
  }
}

test('each platform with comments gets the first one under its post, once, though an answer is lost', async () => {
  const [facebook, instagram] = [await connectPage('facebook'), await connectPage('instagram')]
  const linkedinPage = await connectOnLinkedin('--page', '5583111')
  const simulated = await makeAccount(stores, mine.workspaceId, 'mastodon')
  hinderComments('cut after')
  const due = { caption: 'Sale', firstComment: comment, media: [await photo()] }
  const id = await schedulePost(ask, { ...due, accounts: [facebook, instagram, linkedinPage, simulated] })
  const post = await endedPost(ask, id)
  expect(post).toMatchObject({ status: 'published', first_comment: comment })
  const { meta, linkedin } = on.server
  const [onFacebook, onInstagram] = [meta.posts[0]!.id, meta.instagram[0]!.id]
  expect(meta.comments.map(({ under, text }) => [under, text]).sort()).toEqual(
    [onFacebook, onInstagram].map((under) => [under, comment]).sort(),
  )
  expect(linkedin.comments).toMatchObject([
    { actor: pageUrn, object: linkedin.posts[0]!.id, message: { text: comment } },
  ])
  const made = [
    ...[onFacebook, onInstagram].map((under) => meta.comments.find((one) => one.under === under)!.id),
    linkedin.comments[0]!.commentUrn,
  ]
  const shown = made.map((external_id) => ({ external_id, url: expect.stringMatching(/^https:/) }))
  const results = post.targets.map(({ publish_result }) => publish_result)
  expect(results.map((result) => result['first_comment'])).toMatchObject([...shown, undefined])
  const told = (await toldTo(stores, mine.workspaceId)).find(({ type }) => type === 'post.published')
  expect(told!.object).toMatchObject({ first_comment: comment, targets: post.targets })
})

test('an equal comment of somebody else isn’t taken for that of an attempt that never arrived', async () => {
  const accounts = [await connectPage('facebook'), await connectPage('instagram')]
  const { meta } = on.server
  meta.hinder = (asking) => {
    const under = asking.id
    if (!isCommenting(asking) || meta.comments.some((one) => one.under === under)) return undefined
    meta.comments.push({ id: `${meta.comments.length}_888`, from: '777', under, text: comment, createdAt: new Date() })
    return 'cut before'
  }
  const due = { caption: 'Sale', firstComment: comment, media: [await photo()] }
  const { targets } = await endedPost(ask, await schedulePost(ask, { ...due, accounts }))
  const own = meta.comments.filter(({ from }) => from === undefined).map(({ id }) => id)
  expect(own).toHaveLength(2)
  expect(
    targets
      .map(({ publish_result }) => (publish_result['first_comment'] as { external_id: string }).external_id)
      .sort(),
  ).toEqual(own.sort())
})

test('a lost comment on Instagram that a crowd of newer ones may hide isn’t sent again', async () => {
  const account = await connectPage('instagram')
  const { meta } = on.server
  const hindrances: Hindrance[] = ['cut after']
  meta.hinder = (asking) => {
    if (isCommenting(asking)) return hindrances.shift()
    const isLook = asking.step.endsWith('/comments') && meta.comments.length === 1
    const crowd = isLook ? Array.from({ length: 50 }, (_, at) => ({ id: `99${at}`, text: `Nice ${at}` })) : []
    const { under } = meta.comments[0] ?? { under: '' }
    meta.comments.push(...crowd.map((one) => ({ ...one, from: '777', under, createdAt: new Date() })))
    return undefined
  }
  const due = { caption: 'Crowd', firstComment: comment, accounts: [account], media: [await photo()] }
  const { targets } = await endedPost(ask, await schedulePost(ask, due))
  const message = expect.stringMatching(/Look under the post$/)
  expect(targets[0]!.publish_result['first_comment']).toMatchObject({ error: { code: 'outcome_unknown', message } })
  expect(meta.comments.filter(({ from }) => from === undefined)).toHaveLength(1)
})

test('a page on LinkedIn whose lost comment can’t be looked for is told which permission is missing', async () => {
  const account = await connectOnLinkedin('--page', '5583111')
  const { linkedin } = on.server
  hinderComments('cut before')
  linkedin.state.scopes = linkedin.state.scopes.filter((name) => name !== 'r_organization_social_feed')
  const id = await schedulePost(ask, { caption: 'Page', firstComment: comment, accounts: [account] })
  const { targets } = await endedPost(ask, id)
  const message = expect.stringContaining('to look for it there needs the scope r_organization_social_feed')
  expect(targets[0]!.publish_result['first_comment']).toMatchObject({ error: { code: 'outcome_unknown', message } })
})

test('a comment that is refused leaves the post published, says why, and costs no account that is good for posts', async () => {
  const [facebook, linkedin] = [await connectPage('facebook'), await connectOnLinkedin()]
  const { meta, linkedin: server } = on.server
  meta.state.permissions = meta.state.permissions.filter((name) => name !== 'pages_manage_engagement')
  server.state.scopes = server.state.scopes.filter((name) => name !== 'w_member_social_feed')
  const id = await schedulePost(ask, { caption: 'Lacking', firstComment: comment, accounts: [facebook, linkedin] })
  const post = await endedPost(ask, id)
  expect([post.status, meta.posts.length, server.posts.length]).toEqual(['published', 1, 1])
  const lacking = (needed: string) => ({
    error: { code: 'permission_missing', message: expect.stringContaining(needed), retryable: false },
  })
  expect(post.targets.map(({ publish_result }) => publish_result)).toMatchObject([
    { external_id: meta.posts[0]!.id, first_comment: lacking('pages_manage_engagement') },
    { external_id: server.posts[0]!.id, first_comment: lacking('w_member_social_feed') },
  ])
  expect(await accounts()).toMatchObject(Array(2).fill({ status: 'connected', health_status: 'warning' }))
})

test('a comment of a person on LinkedIn whose answer is lost isn’t sent again', async () => {
  const account = await connectOnLinkedin()
  hinderComments('cut after')
  const id = await schedulePost(ask, { caption: 'Once', firstComment: comment, accounts: [account] })
  const { targets, status } = await endedPost(ask, id)
  expect([status, on.server.linkedin.comments.length]).toEqual(['published', 1])
  expect(targets[0]!.publish_result['first_comment']).toMatchObject({ error: { code: 'outcome_unknown' } })
})

test('a limit delays the comment alone, and the post says so meanwhile', async () => {
  const account = await connectPage('facebook')
  const { meta } = on.server
  let isLimited = true
  const limit = graphError(32, 'Page request limit reached')
  meta.hinder = (asking) => (isLimited && isCommenting(asking) ? limit : undefined)
  const id = await schedulePost(ask, { caption: 'Later', firstComment: comment, accounts: [account] })
  const targetNow = async () => (await ask('GET', `/v1/posts?before_id=${id + 1}&limit=1`)).body[0].targets[0]
  const message = expect.stringMatching(/^The post is published, its first comment isn't yet: /)
  await expect.poll(targetNow).toMatchObject({
    status: 'publishing',
    publish_result: { error: { code: 'rate_limited', message } },
  })
  isLimited = false
  await stores.pg.query('UPDATE social_accounts SET held_until = NULL')
  await stores.pg.query(`UPDATE post_targets SET next_attempt_at = now() WHERE status = 'publishing'`)
  expect((await endedPost(ask, id)).targets[0]!.publish_result).toMatchObject({
    first_comment: { external_id: meta.comments[0]!.id },
  })
  expect(meta.posts).toHaveLength(1)
})

test('a first comment is bounded, kept by changes that don’t name it, and cleared by null', async () => {
  const plain = { title: 'T', base_caption: 'C' }
  for (const first_comment of ['', ' \n', 'c'.repeat(2201)]) {
    const refused = await ask('POST', '/v1/posts', { ...plain, first_comment })
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'first_comment']])
  }
  const { body } = await ask('POST', '/v1/posts', { ...plain, first_comment: comment })
  const path = `/v1/posts/${body.id}`
  expect((await ask('PATCH', path, { title: 'U' })).body.first_comment).toBe(comment)
  expect((await ask('PATCH', path, { first_comment: null })).body.first_comment).toBe(null)
  const linkedin = await makeAccount(stores, mine.workspaceId, 'linkedin')
  await ask('PATCH', path, { social_account_ids: [linkedin] })
  await scheduleForLater(ask, body.id)
  const long = await ask('PATCH', path, { first_comment: 'c'.repeat(1251) })
  expect([long.status, long.body.detail[0].ctx]).toMatchObject([
    422,
    { code: 'comment_too_long', platform: 'linkedin' },
  ])
})
