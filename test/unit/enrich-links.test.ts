import { describe, expect, test } from 'vitest'
import { makeEnrich, rowOf } from '../support/enriching.ts'

const links = new Map([
  [1, { workspaceId: 7, postId: 11 }],
  [2, { workspaceId: 7, postId: null }],
  [3, { workspaceId: 8, postId: 13 }],
])
const posts = new Map([
  [11, 7],
  [12, 7],
  [13, 8],
  [4294967295, 7],
])
const enrich = makeEnrich({
  ownership: { linkOfId: (id) => links.get(id), workspaceOfPost: (id) => posts.get(id) },
})

function idsOf(query: string): [link: number, post: number] {
  const enriched = enrich({ url: `https://www.example.com/sale?x=1&${query}#top` })
  if (enriched.stream !== 'events') throw new Error(enriched.stream)
  return [enriched.row.link_id, enriched.row.post_id]
}

describe('the link and the post that led to a page', () => {
  test('are those that its URL names, of the event’s workspace', () => {
    expect(idsOf('svc_link_id=2')).toEqual([2, 0])
    expect(idsOf('svc_link_id=1&svc_post_id=11')).toEqual([1, 11])
    expect(idsOf('svc_post_id=12')).toEqual([0, 12])
    expect(idsOf('svc_link_id=2&svc_post_id=12&utm_source=svc')).toEqual([2, 12])
    expect(idsOf('svc_post_id=4294967295')).toEqual([0, 4294967295])
  })

  test('are the link’s own post where the URL names none, or another workspace’s', () => {
    expect(idsOf('svc_link_id=1')).toEqual([1, 11])
    expect(idsOf('svc_link_id=1&svc_post_id=13')).toEqual([1, 11])
  })

  test('are none where they are another workspace’s, or nobody’s', () => {
    expect(idsOf('svc_link_id=3&svc_post_id=13')).toEqual([0, 0])
    expect(idsOf('svc_link_id=99&svc_post_id=99')).toEqual([0, 0])
    const own = rowOf({ url: 'https://www.example.com/?svc_link_id=1' })
    expect([own.link_id, own.post_id]).toEqual([0, 0])
  })

  test.each(['', '0', '-1', '1.5', '1e0', ' 1', '01x', '4294967296', '99999999999', 'abc', '%31'])(
    'are none where %j is no id',
    (text) => {
      expect(idsOf(`svc_link_id=${text}&svc_post_id=${text}`)).toEqual([0, 0])
    },
  )

  test('are the first of several that are ids, and no event’s before', () => {
    expect(idsOf('svc_link_id=&svc_link_id=2&svc_link_id=1')).toEqual([2, 0])
    expect(idsOf('y=1')).toEqual([0, 0])
  })

  test('leave the URL as it is', () => {
    const enriched = enrich({ url: 'https://www.example.com/?svc_link_id=1&svc_post_id=11' })
    expect(enriched.stream === 'events' && enriched.row.url).toBe(
      'https://www.example.com/?svc_link_id=1&svc_post_id=11',
    )
  })
})
