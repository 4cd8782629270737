import { describe, expect, test } from 'vitest'
import { makeEnrich, rowOf } from '../support/enriching.ts'

const links = new Map([
  [1, { workspaceId: 7, postId: 11 }],
  [2, { workspaceId: 7, postId: null }],
  [3, { workspaceId: 8, postId: 13 }],
])
const posts = new Map(Object.entries({ 11: 7, 12: 7, 13: 8, 4294967295: 7 }))
const enrich = makeEnrich({
  ownership: { linkOfId: (id) => links.get(id), workspaceOfPost: (id) => posts.get(String(id)) },
})

describe('the link and the post that led to a page', () => {
  test.each<[string, number, number]>([
    // Those that its URL names, of the event's workspace.
    ['svc_link_id=2', 2, 0],
    ['svc_link_id=1&svc_post_id=11', 1, 11],
    ['svc_post_id=12', 0, 12],
    ['svc_link_id=2&svc_post_id=12&utm_source=svc', 2, 12],
    ['svc_post_id=4294967295', 0, 4294967295],
    // The link's own post where the URL names none, or another workspace's.
    ['svc_link_id=1', 1, 11],
    ['svc_link_id=1&svc_post_id=13', 1, 11],
    // None where they are another workspace's, or nobody's.
    ['svc_link_id=3&svc_post_id=13', 0, 0],
    ['svc_link_id=99&svc_post_id=99', 0, 0],
    // The first of several that are ids, and no event's before.
    ['svc_link_id=&svc_link_id=2&svc_link_id=1', 2, 0],
    ['y=1', 0, 0],
    ...['', '0', '-1', '1.5', '1e0', ' 1', '01x', '4294967296', '99999999999', 'abc', '%31'].map(
      (id): [string, number, number] => [`svc_link_id=${id}&svc_post_id=${id}`, 0, 0],
    ),
  ])('by ?%s are %i and %i, and the URL stays', (query, link_id, post_id) => {
    const url = `https://www.example.com/sale?x=1&${query}#top`
    const enriched = enrich({ url })
    expect(enriched.stream === 'events' && enriched.row).toMatchObject({ link_id, post_id, url })
  })

  test('are none where the visitor came by a link within the site', () => {
    const url = 'https://www.example.com/sale?svc_link_id=1&svc_post_id=12'
    const enriched = enrich({ url, referrer: 'https://www.example.com/' })
    expect(enriched.stream === 'events' && enriched.row).toMatchObject({ link_id: 0, post_id: 0, url })
    const sentOn = enrich({ url, referrer: 'https://www.example.com/?svc_post_id=12&svc_link_id=1' })
    expect(sentOn.stream === 'events' && sentOn.row).toMatchObject({ link_id: 1, post_id: 12, url })
  })

  test('are nobody’s where no table is there', () => {
    expect(rowOf({ url: 'https://www.example.com/?svc_link_id=1' })).toMatchObject({ link_id: 0, post_id: 0 })
  })
})
