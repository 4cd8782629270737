/** `DELETE /v1/posts/{post_id}`: what nobody has published yet goes for good, and takes nothing else along. */
import { beforeEach, expect, test } from 'vitest'
import { setUpApi } from '../support/api.ts'
import { asking, makeAccount, makeMedia, type ShownPost } from '../support/publishing.ts'

const { stores, api, mine } = setUpApi()
const ask = asking(api, () => mine.apiKey)
const remove = (id: number) => ask<ShownPost>('DELETE', `/v1/posts/${id}`)
const detail = 'Only posts of which nothing is published or being published can be deleted'

let accounts: number[]
beforeEach(async () => {
  accounts = [await makeAccount(stores, mine.workspaceId, 'x'), await makeAccount(stores, mine.workspaceId, 'bluesky')]
})

async function create(more: object = {}): Promise<ShownPost> {
  const body = { title: 'T', base_caption: 'C', social_account_ids: accounts, ...more }
  return (await ask<ShownPost>('POST', '/v1/posts', body)).body
}

test.each([
  ['draft', true],
  ['scheduled', true],
  ['failed', true],
  ['archived', true],
  ['publishing', false],
  ['published', false],
])('a post that is %s: %s', async (status, isDeletable) => {
  const { id } = await create()
  await stores.pg.query('UPDATE posts SET status = $2 WHERE id = $1', [id, status])
  if (isDeletable) expect(await remove(id)).toMatchObject({ status: 200, body: { id, status } })
  else expect(await remove(id)).toEqual({ status: 409, body: { detail } })
  expect((await ask('GET', `/v1/posts/${id}`)).status).toBe(isDeletable ? 404 : 200)
  if (isDeletable) expect(await remove(id)).toEqual({ status: 404, body: { detail: 'Post not found' } })
})

test('one that an account has published is kept, whatever became of the others', async () => {
  const { id, targets } = await create()
  await stores.pg.query(`UPDATE posts SET status = 'failed' WHERE id = $1`, [id])
  await stores.pg.query(`UPDATE post_targets SET status = 'published' WHERE id = $1`, [targets[0]!.id])
  expect(await remove(id)).toEqual({ status: 409, body: { detail } })
})

test('media and links of a scheduled post stay, and nothing is left for the publisher', async () => {
  const image = await makeMedia(stores, mine.workspaceId)
  const { id } = await create({ media_ids: [image] })
  expect((await ask('POST', `/v1/posts/${id}/schedule`, { scheduled_at: '2040-01-01T00:00:00Z' })).status).toBe(200)
  const linked = { label: 'Of the post', destination_url: 'https://example.com/', post_id: id }
  const { body: link } = await ask<{ id: number; tracking_url: string }>('POST', '/v1/links', linked)
  expect((await remove(id)).status).toBe(200)
  const { body: left } = await ask('GET', `/v1/links/${link.id}`)
  expect(left).toMatchObject({ id: link.id, post_id: null, tracking_url: link.tracking_url })
  expect((await ask<{ id: number }[]>('GET', '/v1/media')).body.map((one) => one.id)).toContain(image)
  expect(await stores.pg.query('SELECT FROM post_targets WHERE post_id = $1', [id])).toEqual([])
})
