/**
 * Our values in the browser's storage. Every access may throw (blocked storage, a full disk, a page that took it away).
 * Then the value is kept for as long as the page lives.
 */

export type Key = 'svc_aid' | 'svc_sid' | 'svc_first' | 'svc_last' | 'svc_queue' | 'svc_off'

declare const localStorage: Record<string, string>

let memory: { [key in Key]?: string } = {}

export function read(key: Key): string | undefined {
  try {
    return localStorage[key] || memory[key]
  } catch {}
  return memory[key]
}

export function write(key: Key, value: string): string {
  memory[key] = value
  try {
    localStorage[key] = value
  } catch {
    // A storage that is full keeps the older value, which would be read in place of this one.
    try {
      delete localStorage[key]
    } catch {}
  }
  return value
}

/** Other tabs see that keys become empty before they go, and tell it from a site that removes them. */
export function eraseAll(): void {
  try {
    for (const key of ['svc_aid', 'svc_sid', 'svc_first', 'svc_last', 'svc_queue'] as const) {
      if (read(key)) write(key, '')
      delete localStorage[key]
    }
  } catch {}
  memory = {}
}

/** Reads our own JSON; null where it is missing or isn't JSON. */
export function readJson<Value>(key: Key): Value | null {
  try {
    return JSON.parse(read(key)!)
  } catch {}
  return null
}
