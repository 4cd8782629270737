/** Whether single keys act in this browser. Whoever speaks to it sets them off by every word, and may turn them off. */
import { readStored, writeStored } from './local-storage.ts'

const place = 'single keys'
let areOn = readStored(place) !== 'off'

/** Whether a key alone does something on the page. */
export function areSingleKeysOn(): boolean {
  return areOn
}

/** Remembers it for this browser where that is possible, else for the page. */
export function setSingleKeys(isOn: boolean): void {
  areOn = isOn
  writeStored(place, isOn ? 'on' : 'off')
}
