import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { HeldLease } from '../../ingest/ids.ts'
import type { Part } from '../../ingest/ship/manifest.ts'
import { UndoneSegments } from '../../ingest/ship/marks.ts'
import { segmentRowsMax } from '../../schemas/limits.ts'

const leaseSize = 8
const leases = 3

/** What may happen to the numbers of three leases; `pick` says to which of those that are there. */
const step = fc.record({
  what: fc.constantFrom('take', 'take', 'bots', 'skip', 'seal', 'unused', 'freeze', 'split', 'load', 'load'),
  pick: fc.nat(1000),
})

interface Manifest {
  segments: number[]
  part: Part
}

it('a mark covers no row that is not loaded, in whatever order segments are sealed, split, joined and loaded, and all in the end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const undone = new UndoneSegments()
      let next = leaseSize
      const open: number[] = []
      const sealed: number[] = []
      const rests: number[] = []
      const manifests: Manifest[] = []
      const take = <T>(from: T[], pick: number): T | undefined => from.splice(pick % Math.max(1, from.length), 1)[0]

      const held = (): HeldLease[] =>
        Array.from({ length: leases }, (_, index) => {
          const first = (index + 1) * leaseSize
          const end = first + leaseSize
          return { first, next: Math.min(end, Math.max(first, next)), end }
        })
      const load = ({ segments, part }: Manifest) =>
        undone.loaded({ segments: segments.map((number) => ({ number })) as never, part })
      const check = () => {
        const notLoaded = [...open, ...sealed, ...rests, ...manifests.flatMap(({ segments }) => segments)]
        for (const lease of held()) {
          const through = undone.throughOf(lease)
          expect((through + 1) % segmentRowsMax).toBe(0)
          expect(through).toBeGreaterThanOrEqual(lease.first * segmentRowsMax - 1)
          // Neither a row that waits nor one that is still to come.
          for (const number of [...notLoaded, lease.next]) {
            if (number >= lease.first && number < lease.end) expect(number * segmentRowsMax).toBeGreaterThan(through)
          }
          const least = Math.min(lease.next, ...notLoaded.filter((number) => number >= lease.first))
          expect(through).toBe(Math.min(least, lease.end) * segmentRowsMax - 1)
        }
      }

      for (const { what, pick } of steps) {
        if (what === 'take' && next < (leases + 1) * leaseSize) {
          undone.begin(next)
          open.push(next++)
        } else if (what === 'bots' || what === 'skip') next = Math.min(next + 1 + (pick % 3), (leases + 1) * leaseSize)
        else if (what === 'seal') {
          const number = take(open, pick)
          if (number !== undefined) sealed.push(number)
        } else if (what === 'unused') {
          const number = take(open, pick)
          if (number !== undefined) undone.unused(number)
        } else if (what === 'freeze' && sealed.length > 0) {
          manifests.push({ segments: sealed.splice(0, 1 + (pick % sealed.length)), part: 'all' })
        } else if (what === 'freeze' && rests.length > 0) {
          manifests.push({ segments: rests.splice(0, 1 + (pick % rests.length)), part: 'claimed' })
        } else if (what === 'split' && sealed.length > 0) {
          const segments = sealed.splice(0, 1 + (pick % sealed.length))
          manifests.push({ segments, part: 'unclaimed' })
          rests.push(...segments)
        } else if (what === 'load') {
          const manifest = take(manifests, pick)
          if (manifest) load(manifest)
        }
        check()
      }
      for (const number of open.splice(0)) undone.unused(number)
      for (const manifest of manifests.splice(0)) load(manifest)
      load({ segments: rests.splice(0), part: 'claimed' })
      load({ segments: sealed.splice(0), part: 'all' })
      check()
      for (const lease of held()) expect(undone.throughOf(lease)).toBe(lease.next * segmentRowsMax - 1)
    }),
    { numRuns: 500 },
  )
})
