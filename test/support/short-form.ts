/**
 * Faults and properties have a long form, `FAULTS=long`, with all there is to try, and a short one that every run of the
 * tests takes: of several of a kind it tries some, others each time. `SEED=n` chooses the same ones
 * again.
 */
export const isLong = process.env['FAULTS'] === 'long'

export const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

/** One in `share` of them, in their order; all in the long form. */
export function someOf<One>(all: readonly One[], share: number): One[] {
  return all.filter((_, at) => isLong || at % share === seed % share)
}
