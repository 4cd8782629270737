/** Sessions and journeys of the browser script. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressOf, isNear, makeId, nextSession, readJourney, sessionIdOf } from '../../web/script/sessions.ts'

const now = Date.UTC(2026, 10, 21, 12)
const minute = 60_000
const hour = 60 * minute
const browser = makeId()
const idOf = (stored: string) => sessionIdOf(stored, browser)

describe('a session', () => {
  const begun = nextSession(undefined, now)

  test('is its browser and its start, and no two browsers are alike', () => {
    expect(begun).toBe(`${now}.${now}`)
    expect(idOf(begun)).toBe(`${now}.${browser}`)
    expect(new Set(Array.from({ length: 1000 }, makeId)).size).toBe(1000)
    expect(browser).toMatch(/^\d{20,40}$/)
  })

  test('is the same in tabs that are opened within a moment, and another one for another campaign', () => {
    expect(idOf(nextSession(undefined, now + 9_000))).toBe(idOf(begun))
    expect(nextSession(undefined, now + 9_000)).toBe(`${now}.${now + 9_000}`)
    expect(idOf(nextSession(begun, now + 9_000, true))).toBe(`${now + 9_000}.${browser}`)
  })

  test('goes on as long as less than 30 minutes pass without activity', () => {
    const later = nextSession(begun, now + 30 * minute - 1)
    expect(idOf(later)).toBe(idOf(begun))
    expect(later).toBe(`${now}.${now + 30 * minute - 1}`)
    expect(idOf(nextSession(later, now + 59 * minute))).toBe(idOf(begun))
  })

  test('ends after 30 idle minutes, after 24 hours whatever is done, and where it is told to', () => {
    expect(idOf(nextSession(begun, now + 30 * minute))).not.toBe(idOf(begun))
    expect(idOf(nextSession(begun, now + 1, true))).not.toBe(idOf(begun))
    let session = begun
    for (let at = now; at < now + 24 * hour; at += 20 * minute) {
      session = nextSession(session, at)
      expect(idOf(session)).toBe(idOf(begun))
      expect(isNear(session, at)).toBe(true)
    }
    expect(idOf(nextSession(session, now + 24 * hour))).not.toBe(idOf(begun))
    expect(isNear(session, now + 24 * hour + 1)).toBe(false)
  })

  test('ends when the clock turns out to have been wrong by more than that', () => {
    expect(idOf(nextSession(begun, now - 31 * minute))).not.toBe(idOf(begun))
    expect(idOf(nextSession(begun, now - minute))).toBe(idOf(begun))
  })

  test('begins anew, and well formed, whatever else stands where it is kept', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d{13}/.test(text))
        expect(nextSession(text, now)).toBe(begun)
      }),
    )
  })
})

describe('a journey in a URL', () => {
  const session = nextSession(undefined, now)
  const link = (rest = '') => `https://shop.example/a?x=1&svc_j=${browser}.${session}${rest}`
  const read = (url: string, at: number) => (readJourney(url, at) || undefined)?.slice(1, 3)

  test('is read with its browser and session for two minutes', () => {
    expect(read(link(), now + 119_000)).toEqual([browser, session])
    expect(read(link('&utm_source=a#top'), now)).toEqual([browser, session])
    expect(read(link(), now + 2 * minute)).toBeUndefined()
  })

  test.each([
    '',
    '?svc_j=',
    '?svc_j=guest.1795262400000.1795262400000',
    `?xsvc_j=${browser}.${session}`,
    `?svc_j=${'1'.repeat(500)}.${session}`,
  ])('is none in /%s', (query) => {
    expect(read(`https://shop.example/${query}`, now)).toBeUndefined()
  })

  test('leaves no trace in what is recorded, wherever it stands among the parameters', () => {
    const parameters = fc.array(fc.constantFrom('a=1', 'svc=2', 'j', 'b=%26'), { maxLength: 4 })
    fc.assert(
      fc.property(parameters, parameters, fc.constantFrom('', '#x', '#/r?y=1'), (before, after, hash) => {
        const all = [...before, `svc_j=${browser}.${session}`, ...after].join('&')
        const rest = [...before, ...after].join('&')
        expect(addressOf(`https://a.example/p?${all}${hash}`)).toBe(`https://a.example/p${rest && '?'}${rest}${hash}`)
      }),
    )
  })

  test('a recorded address is as it was without one, and no longer than the server takes', () => {
    expect(addressOf('https://a.example/p?b=2&c=3')).toBe('https://a.example/p?b=2&c=3')
    expect(addressOf(`https://a.example/${'x'.repeat(5000)}`)).toHaveLength(2048)
  })
})
