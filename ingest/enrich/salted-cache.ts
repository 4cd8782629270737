/** Cache of values computed with a day's salt. It is dropped together with that salt. */
import { LRUCache } from 'lru-cache'

/** The salt of the UTC day that holds the moment `ms`. */
export interface SaltOfDay {
  current(ms: number): Buffer
}

export class SaltedCache<Value extends object | string> {
  private readonly known: LRUCache<string, Value>
  private salt: Buffer | undefined

  constructor(
    private readonly salts: SaltOfDay,
    entriesMax: number,
  ) {
    this.known = new LRUCache({ max: entriesMax })
  }

  /** To be asked first: with another salt nothing is known any more. */
  saltAt(ms: number): Buffer {
    const current = this.salts.current(ms)
    if (current !== this.salt) {
      this.known.clear()
      this.salt = current
    }
    return current
  }

  get(who: string): Value | undefined {
    return this.known.get(who)
  }

  set(who: string, value: Value): void {
    this.known.set(who, value)
  }
}
