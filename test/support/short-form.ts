/**
 * Tests that draw (moments of kills, random data) follow one seed. It is 1 in `npm test`, so that each run tries the
 * same. It is random in the long form, `FAULTS=long`, which tries more of everything. `SEED=n` chooses it. Both print
 * it.
 */
export const isLong = process.env['FAULTS'] === 'long'

export const seed = Number(process.env['SEED'] ?? 1)

/** Numbers from 0 to 1 that follow from the seed and the name alone. */
export function drawsOf(name: string): () => number {
  return makeRandom([...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed))
}

/** Numbers from 0 to 1 that follow from the seed alone (mulberry32). */
export function makeRandom(own: number): () => number {
  let state = own
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
