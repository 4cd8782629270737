/** Approval: contributors write drafts and ask, editors schedule or send back; nothing of theirs is published without. */
import { expect, test } from 'vitest'
import { operations } from '../../api/operations/registry.ts'
import { postReviewNoteLengthMax } from '../../schemas/limits/api-limits.ts'
import { scopes } from '../../schemas/scopes.ts'
import { makeKey, setUpApi } from '../support/api.ts'
import { setUpMembers } from '../support/members.ts'
import { asking, makeAccount, makeMedia } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const { makeMember } = setUpMembers({ stores, api })
const ask = asking(api, () => mine.apiKey)
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString()
const draft = async (more: object = {}) => ({
  title: 'T',
  base_caption: 'C',
  scheduled_at: tomorrow(),
  social_account_ids: [await makeAccount(stores, mine.workspaceId, 'x')],
  ...more,
})
/** As the dashboard of a member asks. */
// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is what a test looks at
type Answer = Promise<{ status: number; body: any }>
const asMember = async (role: 'contributor' | 'editor') => {
  const member = await makeMember(mine, role)
  return { ...member, ask: member.ask as (...asked: Parameters<typeof member.ask>) => Answer }
}

test('a draft waits with who asked and when, tells of later changes, is sent back with a note, and approved by its schedule', async () => {
  const [writer, editor] = [await asMember('contributor'), await asMember('editor')]
  const { body: post } = await writer.ask('POST', '/posts', await draft())
  const path = `/posts/${post.id}`
  expect(post.review).toBe(null)
  const waiting = { status: 'waiting', by: writer.email, at: expect.stringMatching(/Z$/), note: null }
  const asked = await writer.ask('POST', `${path}/submit`)
  expect(asked.body).toMatchObject({ status: 'draft', review: { ...waiting, changed_at: null } })
  const { title, base_caption, targets } = asked.body
  const same = { title, base_caption, social_account_ids: [targets[0].social_account_id], thread: [], tags: ['spring'] }
  for (const body of [{}, same]) expect((await writer.ask('PATCH', path, body)).body.review.changed_at).toBe(null)
  const changed = await writer.ask('PATCH', path, { base_caption: 'Another' })
  expect(changed.body.review).toEqual({ ...waiting, changed_at: expect.stringMatching(/Z$/) })
  const other = await writer.ask('POST', '/posts', await draft())
  const found = async (review: string) =>
    (await ask('GET', `/v1/posts?review=${review}`)).body.map(({ id }: { id: number }) => id)
  expect([await found('waiting'), await found('returned')]).toEqual([[post.id], []])

  const long = await editor.ask('POST', `${path}/return`, { note: 'n'.repeat(postReviewNoteLengthMax + 1) })
  expect(long.status).toBe(422)
  const returned = await editor.ask('POST', `${path}/return`, { note: 'Shorter, please' })
  expect(returned.body.review).toMatchObject({ status: 'returned', by: editor.email, note: 'Shorter, please' })
  expect((await editor.ask('POST', `${path}/return`, {})).status).toBe(409)
  expect([await found('waiting'), await found('returned')]).toEqual([[], [post.id]])

  await writer.ask('POST', `${path}/submit`)
  const approved = await editor.ask('POST', `${path}/schedule`, { scheduled_at: tomorrow() })
  expect(approved.body).toMatchObject({ status: 'scheduled', review: null })
  expect((await writer.ask('POST', `${path}/submit`)).status).toBe(409)
  await writer.ask('POST', `/posts/${other.body.id}/submit`)
  expect((await editor.ask('POST', `/posts/${other.body.id}/archive`)).body.review).toBe(null)

  const told = await stores.pg.query<{ object: { id: number } }>(
    `SELECT object FROM outbox WHERE type = 'post.review_requested' ORDER BY id`,
  )
  expect(told.map(({ object: { id } }) => id)).toEqual([post.id, post.id, other.body.id])
  const audited = await stores.pg.query<{ action: string; actor_name: string }>(
    `SELECT action, actor_name FROM audit_events WHERE resource_type = 'post' AND resource_id = $1 ORDER BY id`,
    [post.id],
  )
  expect(audited.map(({ action, actor_name }) => [action, actor_name])).toEqual([
    ...['create', 'submit', 'update', 'update', 'update'].map((verb) => [`post.${verb}`, writer.email]),
    ['post.return', editor.email],
    ['post.submit', writer.email],
    ['post.schedule', editor.email],
  ])
})

test.each(['schedule', 'queue'])(
  'an approval by …/%s is for the draft that was read: a change or the end of the request in between refuses it',
  async (verb) => {
    const [writer, editor] = [await asMember('contributor'), await asMember('editor')]
    await ask('PATCH', '/v1/posting-times', { times: [{ weekday: 1, time: '09:00' }] })
    const { body: post } = await writer.ask('POST', '/posts', await draft())
    const path = `/posts/${post.id}`
    const approve = ({ updated_at }: { updated_at: string }) => {
      return editor.ask('POST', `${path}/${verb}`, {
        ...(verb === 'schedule' && { scheduled_at: tomorrow() }),
        updated_at,
      })
    }
    const refused = [409, `The post was changed by ${writer.email} since it was read: read it again`]
    const asked = (await writer.ask('POST', `${path}/submit`)).body
    const changed = (await writer.ask('PATCH', path, { base_caption: 'Never seen' })).body
    const unseen = await approve(asked)
    expect([unseen.status, unseen.body.detail]).toEqual(refused)
    await writer.ask('POST', `${path}/return`)
    const takenBack = await approve(changed)
    expect([takenBack.status, takenBack.body.detail]).toEqual(refused)
    const { body: shown } = await editor.ask('GET', path)
    expect([shown.status, shown.review.status]).toEqual(['draft', 'returned'])
    expect((await approve({ updated_at: 'yesterday' })).status).toBe(422)
    expect((await approve(shown)).body.status).toBe('scheduled')
  },
)

test('a change, a move, a request and its return are for the post that was read; a refusal names who changed it last, and changes nothing', async () => {
  const [writer, editor] = [await asMember('contributor'), await asMember('editor')]
  const { body: post } = await writer.ask('POST', '/posts', await draft())
  const path = `/posts/${post.id}`
  const read = async () => (await ask('GET', `/v1${path}`)).body
  const isRefusedWhenStale = async (method: string, verb: string, body: object) => {
    const stale = (await read()).updated_at
    const by = await editor.ask('PATCH', path, { base_caption: `Before ${verb}` })
    // A call that changes nothing is nobody's change.
    expect((await ask('PATCH', `/v1${path}`, { base_caption: `Before ${verb}` })).body).toEqual(by.body)
    const refused = await writer.ask(method, `${path}${verb}`, { ...body, updated_at: stale })
    const detail = `The post was changed by ${editor.email} since it was read: read it again`
    expect([verb, refused.status, refused.body.detail]).toEqual([verb, 409, detail])
    expect(await read()).toMatchObject(by.body)
  }
  const isDone = async (method: string, verb: string, body: object = {}) => {
    const done = await editor.ask(method, `${path}${verb}`, { ...body, updated_at: (await read()).updated_at })
    expect([verb, done.status]).toEqual([verb, 200])
  }
  await isRefusedWhenStale('PATCH', '', { title: 'Mine' })
  await isDone('PATCH', '', { title: 'Mine' })
  await isRefusedWhenStale('POST', '/submit', {})
  await isDone('POST', '/submit')
  await isRefusedWhenStale('POST', '/return', { note: 'No' })
  await isDone('POST', '/return')
  await isDone('POST', '/schedule', { scheduled_at: tomorrow() })
  const stale = (await read()).updated_at
  await ask('PATCH', `/v1${path}`, { title: 'By a key' })
  const moved = await editor.ask('POST', `${path}/reschedule`, {
    scheduled_at: '2100-01-01T00:00:00Z',
    updated_at: stale,
  })
  expect([moved.status, moved.body.detail]).toEqual([409, expect.stringMatching(/^The post was changed by .+ since/)])
  await isDone('POST', '/reschedule', { scheduled_at: '2100-01-01T00:00:00Z' })
  // Whoever repeats a change whose answer was lost is told so.
  const isOwnWhenStale = async (method: string, verb: string, body?: (updated_at: string) => object) => {
    const { updated_at } = await read()
    await editor.ask('PATCH', path, { title: `Before ${method}${verb}` })
    const refused = await editor.ask(method, path + verb.replace('STALE', updated_at), body?.(updated_at))
    const detail = 'The post was changed by you, in another window, since it was read: read it again'
    expect([verb, refused.status, refused.body.detail]).toEqual([verb, 409, detail])
  }
  await isOwnWhenStale('POST', '/unschedule', (updated_at) => ({ updated_at }))
  await isDone('POST', '/unschedule')
  await isOwnWhenStale('POST', '/archive', (updated_at) => ({ updated_at }))
  await isOwnWhenStale('DELETE', '?updated_at=STALE')
  // The product itself is nobody.
  await stores.pg.query("UPDATE posts SET updated_at = clock_timestamp() + interval '1 hour' WHERE id = $1", [post.id])
  const unnamed = await editor.ask('PATCH', path, { title: 'Late', updated_at: stale })
  expect([unnamed.status, unnamed.body.detail]).toEqual([409, 'The post was changed since it was read: read it again'])
  expect((await editor.ask('POST', `${path}/archive`, { updated_at: null })).status).toBe(200)
  expect((await editor.ask('DELETE', `${path}?updated_at=${(await read()).updated_at}`)).status).toBe(200)
})

test('approval is asked for a draft that is ready alone', async () => {
  const { body } = await ask('POST', '/v1/posts', await draft({ social_account_ids: [] }))
  const refused = await ask('POST', `/v1/posts/${body.id}/submit`)
  expect([refused.status, refused.body.detail[0].ctx.code]).toEqual([422, 'no_connected_account'])
})

test('a contributor changes, archives and deletes drafts, and no post that is scheduled', async () => {
  const writer = await asMember('contributor')
  const { body: post } = await ask('POST', '/v1/posts', await draft())
  await ask('POST', `/v1/posts/${post.id}/schedule`, { scheduled_at: tomorrow() })
  const closed = [403, 'Your role in the workspace does not allow this']
  const changes = [
    ['PATCH', '', { title: 'U' }],
    ['POST', '/archive', undefined],
    ['DELETE', '', undefined],
  ] as const
  for (const [method, path, body] of changes) {
    const answer = await writer.ask(method, `/posts/${post.id}${path}`, body)
    expect([method, answer.status, answer.body.detail]).toEqual([method, ...closed])
  }
  expect((await ask('GET', `/v1/posts/${post.id}`)).body).toMatchObject({ title: 'T', status: 'scheduled' })
  for (const [method, path, body] of changes) {
    const { body: own } = await writer.ask('POST', '/posts', await draft())
    expect([method, (await writer.ask(method, `/posts/${own.id}${path}`, body)).status]).toEqual([method, 200])
  }
})

test('keys of a contributor decide about no publication, and those of others need no scope more', async () => {
  const writer = await asMember('contributor')
  const { apiKey } = await makeKey(stores, mine.workspaceId, { ownerId: writer.id, scopes: [...scopes] })
  const own = asking(api, () => apiKey)
  const { body: post } = await own('POST', '/v1/posts', await draft())
  const at = { scheduled_at: tomorrow() }
  const closed = { status: 403, body: { detail: 'API key lacks the required scope: posts:publish' } }
  const publishing = operations.filter(({ publishes }) => publishes)
  expect(publishing).toHaveLength(5)
  for (const { http } of publishing) {
    const answer = await own(http.method, http.path.replace('{post_id}', post.id), at)
    expect([http.path, answer]).toEqual([http.path, closed])
  }
  const writing = await makeKey(stores, mine.workspaceId, { scopes: ['posts:write'] })
  const scheduled = await asking(api, () => writing.apiKey)('POST', `/v1/posts/${post.id}/schedule`, at)
  expect(scheduled.body.status).toBe('scheduled')
  expect(await own('PATCH', `/v1/posts/${post.id}`, { title: 'U' })).toEqual(closed)
})

test('a member who becomes a contributor changes no scheduled post from then on, though the key was looked up before', async () => {
  const editor = await asMember('editor')
  const { apiKey } = await makeKey(stores, mine.workspaceId, { ownerId: editor.id, scopes: [...scopes] })
  const own = asking(api, () => apiKey)
  const { body: post } = await own('POST', '/v1/posts', await draft())
  const { body: scheduled } = await own('POST', `/v1/posts/${post.id}/schedule`, { scheduled_at: tomorrow() })
  await stores.pg.query("UPDATE members SET role = 'contributor' WHERE owner_id = $1", [editor.id])
  const changed = await own('PATCH', `/v1/posts/${post.id}`, { base_caption: 'Mine', scheduled_at: tomorrow() })
  expect([changed.status, changed.body.detail]).toEqual([403, 'API key lacks the required scope: posts:publish'])
  expect((await ask('GET', `/v1/posts/${post.id}`)).body).toMatchObject({
    base_caption: 'C',
    updated_at: scheduled.updated_at,
  })
})

test('a changed alternative text is a change of the drafts that wait and show the file', async () => {
  const media = await makeMedia(stores, mine.workspaceId, { altText: 'A bear' })
  const [waiting, other] = [await draft({ media_ids: [media] }), await draft({ media_ids: [media] })]
  const [post, unasked] = [await ask('POST', '/v1/posts', waiting), await ask('POST', '/v1/posts', other)]
  const { body: asked } = await ask('POST', `/v1/posts/${post.body.id}/submit`)
  const describe = async (alt_text: string) => {
    expect((await ask('PATCH', `/v1/media/${media}`, { alt_text })).status).toBe(200)
    const shown = await Promise.all([post, unasked].map(({ body: { id } }) => ask('GET', `/v1/posts/${id}`)))
    return shown.map(({ body: { review, updated_at } }) => ({ review, updated_at }))
  }
  const untouched = { review: null, updated_at: unasked.body.updated_at }
  const { review, updated_at } = asked
  expect(await describe('A bear')).toEqual([{ review, updated_at }, untouched])
  const changed_at = expect.stringMatching(/Z$/)
  expect(await describe('Another bear')).toEqual([{ review: { ...review, changed_at }, updated_at }, untouched])
})
