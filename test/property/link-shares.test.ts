/** Targets with shares divide a link's visitors, and always in the same way. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeClickReader } from '../../ingest/enrich/clicks.ts'
import type { LinkTarget } from '../../ingest/tables/link-target.ts'
import { noCountry } from '../../schemas/event/row.ts'
import { type SharedTarget, shareRanges } from '../../schemas/link-shares.ts'
import { noArea } from '../../schemas/reference/places.ts'
import type { LinkDevice } from '../../schemas/resources/link.ts'

const salt = Buffer.alloc(32, 7)
const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Safari/604.1'
const desktop = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const senderOf = (at: number, userAgent: string) => ({
  address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
  userAgent,
  country: noCountry,
  area: noArea,
  receivedAt: Date.UTC(2026, 10, 20, 12),
})
const visitors = 10_000

interface Target extends SharedTarget {
  readonly to: string
  readonly device?: LinkDevice
}

/** Where each of the visitors is led; empty: to the link's own destination. */
function led(id: number, targets: readonly Target[], userAgent = desktop): string[] {
  const { targetFor } = makeClickReader({
    salts: { at: () => salt },
    countries: null,
    placeDetail: 'city',
    exclusionsOf: () => null,
  })
  const ranges = shareRanges(targets)
  const link = {
    id,
    workspaceId: 1,
    postId: null,
    url: '',
    expiresAt: null,
    expiredUrl: null,
    passwordHash: null,
    preview: null,
    targets: targets.map(({ device = null, countries = [], to }, at) => ({
      device,
      countries: countries.join(),
      url: to,
      destinationUrl: to,
      ...(ranges[at] && { share: ranges[at] }),
    })),
  } satisfies LinkTarget
  return Array.from({ length: visitors }, (_, at) => targetFor(link, senderOf(at, userAgent))?.url ?? '')
}

/** Expects these percents of `all`, by where they are led, within four standard deviations. */
function expectPercents(all: readonly string[], expected: Record<string, number>) {
  expect(new Set(all)).toEqual(new Set(Object.keys(expected)))
  for (const [to, percent] of Object.entries(expected)) {
    const counted = (100 * all.filter((each) => each === to).length) / all.length
    const deviation = Math.sqrt((percent * (100 - percent)) / all.length)
    expect(Math.abs(counted - percent), `${counted} % to ${to}`).toBeLessThanOrEqual(4 * deviation)
  }
}

const thirds = [
  { share: 33, to: 'a' },
  { share: 33, to: 'b' },
]
const ofThirds = { a: 33, b: 33, '': 34 }

test('33, 33 and the rest are a third each, and a visitor is led to the same one again', () => {
  const first = led(1, thirds)
  expectPercents(first, ofThirds)
  expect(led(1, thirds)).toEqual(first)
})

test('a share of one link tells nothing of the same visitor’s share of another link', () => {
  const first = led(1, thirds)
  for (const id of [2, 3, 257]) {
    const other = led(id, thirds)
    for (const to of ['a', 'b', '']) {
      const fromOne = other.filter((_, at) => first[at] === to)
      expectPercents(fromOne, ofThirds)
    }
  }
})

test('whom the shares of one device leave, the shares of all divide anew; a program gets what all shares leave', () => {
  const targets: Target[] = [
    { device: 'ios', share: 50, to: 'a' },
    { share: 50, to: 'b' },
    { device: 'ios', share: 20, to: 'c' },
  ]
  expectPercents(led(1, targets, iPhone), { a: 50, b: 25, c: 10, '': 15 })
  expectPercents(led(1, targets), { b: 50, '': 50 })
  for (const program of ['facebookexternalhit/1.1', 'curl/8.5.0', '']) {
    expectPercents(led(1, targets, program), { '': 100 })
    expectPercents(led(1, [...targets, { to: 'd' }], program), { d: 100 })
  }
})

test('ranges of one device and the same countries, in any order, follow each other without a gap', () => {
  const target = fc.record(
    {
      device: fc.constantFrom('ios', 'android'),
      countries: fc.constantFrom(['DE', 'AT'], ['AT', 'DE'], ['DE'], []),
      share: fc.integer({ min: 1, max: 99 }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(target, { maxLength: 10 }), (targets) => {
      const ends = new Map<string, number>()
      for (const [at, range] of shareRanges(targets).entries()) {
        const { device, countries = [], share } = targets[at]!
        expect(range === undefined).toBe(share === undefined)
        if (range === undefined) continue
        const whom = JSON.stringify([device, [...countries].sort()])
        expect([range.from, range.to]).toEqual([ends.get(whom) ?? 0, (ends.get(whom) ?? 0) + share!])
        ends.set(whom, range.to)
      }
    }),
    { seed: 7 },
  )
})
