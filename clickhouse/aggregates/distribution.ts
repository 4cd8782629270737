/**
 * How often each of some numbers occurs: what samples of web vitals come to, whose values are rounded to a few hundred
 * numbers. Kept in lists of numbers, because answers of many pages are remembered.
 */

/** Immutable. */
export class Distribution {
  /** In ascending order, each once. */
  readonly #values: Float64Array
  /** How often each of them occurs, at least once. */
  readonly #weights: Float64Array
  readonly count: number

  private constructor(values: Float64Array, weights: Float64Array) {
    this.#values = values
    this.#weights = weights
    this.count = weights.reduce((sum, weight) => sum + weight, 0)
  }

  /** Of values in any order, each as often as it occurs. */
  static of(values: ArrayLike<number>): Distribution {
    const sorted = Float64Array.from(values).sort()
    return Distribution.fromPairs(Array.from(sorted, (value) => [value, 1]))
  }

  /** @param pairs of a value and how often it occurs, in ascending order of values; one may be there several times */
  static fromPairs(pairs: readonly (readonly [value: number, weight: number])[]): Distribution {
    const values = new Float64Array(pairs.length)
    const weights = new Float64Array(pairs.length)
    let length = 0
    for (const [value, weight] of pairs) {
      if (length > 0 && values[length - 1] === value) {
        weights[length - 1]! += weight
        continue
      }
      values[length] = value
      weights[length++] = weight
    }
    return new Distribution(values.slice(0, length), weights.slice(0, length))
  }

  /** @param some at least one */
  static sum(some: readonly Distribution[]): Distribution {
    // From the end: the first one is what is remembered, mostly, and the largest.
    return some.reduceRight((sum, other) => other.#plus(sum))
  }

  #plus(other: Distribution): Distribution {
    const values = new Float64Array(this.#values.length + other.#values.length)
    const weights = new Float64Array(values.length)
    let [at, there, length] = [0, 0, 0]
    while (at < this.#values.length || there < other.#values.length) {
      const left = this.#values[at] ?? Number.POSITIVE_INFINITY
      const right = other.#values[there] ?? Number.POSITIVE_INFINITY
      values[length] = Math.min(left, right)
      if (left <= right) weights[length]! += this.#weights[at++]!
      if (right <= left) weights[length]! += other.#weights[there++]!
      length++
    }
    return new Distribution(values.slice(0, length), weights.slice(0, length))
  }

  /** How many are at most this one. */
  countUpTo(limit: number): number {
    let count = 0
    for (let at = 0; at < this.#values.length && this.#values[at]! <= limit; at++) count += this.#weights[at]!
    return count
  }

  /**
   * Interpolated between those on both sides of a level's place, as ClickHouse's `quantileExactWeightedInterpolated` does;
   * NaN where there are none.
   * @param level from 0 to 1
   */
  quantile(level: number): number {
    const place = (this.count - 1) * level
    const below = this.#valueAt(Math.floor(place))
    return below + (this.#valueAt(Math.ceil(place)) - below) * (place - Math.floor(place))
  }

  /** The value with so many before it. */
  #valueAt(place: number): number {
    let before = 0
    for (let at = 0; at < this.#values.length; at++) {
      before += this.#weights[at]!
      if (place < before) return this.#values[at]!
    }
    return Number.NaN
  }

  /** Each value and how often it occurs, in ascending order. */
  get pairs(): [value: number, weight: number][] {
    return Array.from(this.#values, (value, at) => [value, this.#weights[at]!])
  }

  /** What takes its memory, with bytes. */
  get memory(): readonly (readonly [object, number])[] {
    return [this.#values, this.#weights].map((list) => [list, list.byteLength] as const)
  }
}
