/** Chance in SQL: expressions that are drawn from a hash, so that the same hash gives the same. */

/** A number in [0, 1) of the hash, another for each `salt`. */
export function draw(hash: string, salt: number): string {
  return `(bitShiftRight(cityHash64(${hash}, ${salt}), 11) / ${2 ** 53})`
}

/** From 1 to `count`, small ones far more often. */
export function zipf(count: number | string, hash: string, salt: number): string {
  return `toUInt32(floor(pow(${count} + 1, ${draw(hash, salt)})))`
}

export function evenly(count: number, hash: string, salt: number): string {
  return `(1 + cityHash64(${hash}, ${salt}) % ${count})`
}

/** About normal, with mean 0 and deviation 1: the sum of four draws has a variance of a third. */
export function bell(hash: string, salt: number): string {
  return `((${[0, 1, 2, 3].map((more) => draw(hash, salt + more)).join(' + ')} - 2) * ${Math.sqrt(3)})`
}
