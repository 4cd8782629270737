/** First and last touch of the browser script. Where there is no storage, as here, they are kept in memory. */
import { beforeEach, expect, test } from 'vitest'
import { eraseAll, readJson } from '../../web/script/storage.ts'
import { recordTouch } from '../../web/script/touches.ts'

const root = 'https://shop.example'
let hour = 0
beforeEach(() => {
  eraseAll()
  hour = 0
})

/** @returns whether another session begins */
function arrive(path: string, referrer = ''): boolean {
  hour++
  return recordTouch({ url: root + path, referrer, occurred_at: `2026-11-21T0${hour}:00:00.000Z` }) === true
}
const first = () => readJson('svc_first')
const last = () => readJson('svc_last')

test('a direct first visit is both touches, until a campaign or another site comes: then it is the last', () => {
  expect(arrive('/')).toBe(false)
  const direct = { url: `${root}/`, at: '2026-11-21T01:00:00.000Z' }
  expect([first(), last()]).toEqual([direct, direct])
  arrive('/a', 'https://news.example/x')
  const referred = { url: `${root}/a`, at: '2026-11-21T02:00:00.000Z', referrer: 'https://news.example/x' }
  expect([first(), last()]).toEqual([direct, referred])
  arrive('/b')
  arrive('/c', `${root}/b`)
  expect([first(), last()]).toEqual([direct, referred])
})

test.each([
  ['utm_source=a&utm_medium=b&utm_campaign=c&utm_content=d', { source: 'a', medium: 'b', campaign: 'c', content: 'd' }],
  ['source=a&medium=b&campaign=c&content=d', { source: 'a', medium: 'b', campaign: 'c', content: 'd' }],
  ['source=bare&utm_source=named', { source: 'named' }],
  ['utm_source=&source=bare', { source: 'bare' }],
  ['svc_link_id=7&svc_post_id=9', { svc_link_id: '7', svc_post_id: '9' }],
  ['utm_campaign=spring%20sale+2', { campaign: 'spring sale 2' }],
])('reads the campaign of ?%s', (query, campaign) => {
  expect(arrive(`/?${query}`)).toBe(true)
  expect(first()).toEqual({ url: `${root}/?${query}`, at: '2026-11-21T01:00:00.000Z', ...campaign })
})

test('another session begins with another campaign, and not with the same one again', () => {
  expect(arrive('/?utm_source=a')).toBe(true)
  expect(arrive('/?utm_source=a')).toBe(false)
  expect(arrive('/next')).toBe(false)
  expect(arrive('/?utm_source=a&utm_campaign=b')).toBe(true)
  expect(arrive('/?utm_source=c')).toBe(true)
  expect(arrive('/', 'https://news.example/')).toBe(false)
})

test('a link within the site is no landing, whatever its parameters', () => {
  arrive('/?utm_source=a')
  for (const path of ['/list?content=video', '/?utm_source=b']) expect(arrive(path, `${root}/`)).toBe(false)
  expect(last()).toMatchObject({ source: 'a', at: '2026-11-21T01:00:00.000Z' })
  expect(arrive('/list?content=video', 'https://news.example/')).toBe(true)
})

test('a landing that its own script sends on has its campaign, but for what changed or has a bare name', () => {
  const query = 'utm_source=a&utm_campaign=b&content=video&svc_link_id=7'
  expect(arrive(`/en/?${query}&utm_medium=email`, `${root}/?${query}&utm_medium=x`)).toBe(true)
  const at = '2026-11-21T01:00:00.000Z'
  const touch = { url: `${root}/en/?${query}&utm_medium=email`, at, source: 'a', campaign: 'b', svc_link_id: '7' }
  expect([first(), last()]).toEqual([touch, touch])
  expect(arrive('/list?source=nav&page=2', `${root}/list?source=nav`)).toBe(false)
})

test('a site whose name only begins like ours is another one', () => {
  arrive('/')
  arrive('/', `${root}.evil.example/`)
  expect(last()).toMatchObject({ referrer: `${root}.evil.example/` })
})
