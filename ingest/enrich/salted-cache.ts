/** Cache of values computed with a day's salt. It is dropped together with that salt. */
import { LRUCache } from 'lru-cache'

export interface SaltOfDay {
  /** The salt of the UTC day that holds the moment `ms`. */
  at(ms: number): Buffer
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

  /** To be called before `get`: it empties the cache if the day's salt is another. */
  saltAt(ms: number): Buffer {
    const salt = this.salts.at(ms)
    if (salt !== this.salt) {
      this.known.clear()
      this.salt = salt
    }
    return salt
  }

  get(who: string): Value | undefined {
    return this.known.get(who)
  }

  set(who: string, value: Value): void {
    this.known.set(who, value)
  }
}
