/** Missing pages and searches on the site, told by the addresses that a page goes through. */
import { afterEach, expect, test, vi } from 'vitest'
import { projectFile } from '../../runtime/paths.ts'
import { settledMs } from '../../web/script/bounds.ts'

type Act = (name: string, properties: object) => void
/** Tests are compiled without the types of browsers. */
const { watchAddresses } = (await import(projectFile('web/script/visited-addresses.ts'))) as {
  watchAddresses(act: Act, isMissingWanted: 1, isSearchWanted: 1, parameters: null): void
}

const root = 'https://shop.example'
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** A page that has been loaded. @returns its acts, and what leads to another address of it */
function load(path: string, { responseStatus = 200, meta = '', loadedAs = path, from = '' } = {}) {
  // Not the clock of `performance`, which is replaced below: it would be put back in the place of the real one.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const acts: Parameters<Act>[] = []
  const listeners: Record<string, () => void> = {}
  vi.stubGlobal('location', new URL(root + path))
  vi.stubGlobal('self', {})
  vi.stubGlobal('history', { pushState() {}, replaceState() {} })
  vi.stubGlobal('performance', { getEntriesByType: () => [{ name: root + loadedAs, responseStatus }] })
  vi.stubGlobal('document', {
    referrer: from && root + from,
    querySelector: () => (meta === '' ? null : { getAttribute: () => meta }),
  })
  vi.stubGlobal('addEventListener', (type: string, listener: () => void) => {
    listeners[type] = listener
  })
  watchAddresses((name, properties) => acts.push([name, properties]), 1, 1, null)
  const go = (to: string) => {
    vi.stubGlobal('location', new URL(root + to))
    listeners['popstate']!()
    vi.advanceTimersByTime(settledMs)
  }
  return { acts, go }
}

test('a link to a part of a missing page, and an app that takes the campaign away, make it missing no second time', () => {
  const { acts, go } = load('/gone?utm_source=news&a=1', { meta: '404' })
  const missing = ['not_found', { path: '/gone' }]
  expect(acts).toEqual([missing])
  go('/gone?utm_source=news&a=1#top')
  go('/gone?a=1')
  expect(acts).toEqual([missing])
  go('/gone?a=1#/lost')
  expect(acts).toEqual([missing, ['not_found', { path: '/gone', referrer: `${root}/gone` }]])
})

test('the server’s answer counts for a page whose campaign was taken away meanwhile, and for no other page', () => {
  const gone = { responseStatus: 410, loadedAs: '/gone?utm_source=news' }
  expect(load('/gone', gone).acts).toEqual([['not_found', { path: '/gone' }]])
  expect(load('/home', gone).acts).toEqual([])
})

test('a missing page that led to itself makes the next page no missing one', () => {
  const { acts, go } = load('/gone', { responseStatus: 404, from: '/gone?utm_source=menu' })
  go('/home')
  expect(acts).toEqual([])
})

test('another search is told of, the next page of a result is not', () => {
  const { acts, go } = load('/find?q=tide')
  go('/find?q=tide&page=2')
  go('/find?q=tide&page=2#last')
  go('/find?q=ebb')
  expect(acts).toEqual(['tide', 'ebb'].map((search_term) => ['site_search', { search_term }]))
})
