/** Which hosts of links are social platforms. */
import { expect, test } from 'vitest'
import { describePosture } from '../../pipeline/profile/describe-looks.ts'
import { readPage } from '../../pipeline/profile/read-page.ts'

test('a host that is called as a member of every object is no platform', () => {
  const hosts = ['constructor', '__proto__', 'www.tostring', 'www.youtube.com']
  const page = readPage('https://example.com/', hosts.map((host) => `<a href="http://${host}/a">${host}</a>`).join(''))
  const { platforms } = describePosture(
    [page],
    { platforms: [], posts: 0, caption: '', tags: [], links: [], images: 0, videos: 0 },
    [],
  )
  expect([page.links.length, platforms]).toEqual([hosts.length, ['youtube']])
})
