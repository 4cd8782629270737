/** Whether single keys act in this browser. Whoever speaks to it sets them off by every word, and may turn them off. */
const place = 'single keys'
let areOn = read()

/** Other sites' frames may have no storage. */
function read(): boolean {
  try {
    return localStorage.getItem(place) !== 'off'
  } catch {
    return true
  }
}

/** Whether a key alone does something on the page. */
export function doKeysAct(): boolean {
  return areOn
}

/** Remembers it for this browser where that is possible, else for the page. */
export function letKeysAct(isOn: boolean): void {
  areOn = isOn
  try {
    localStorage.setItem(place, isOn ? 'on' : 'off')
  } catch {
    // It holds for the page.
  }
}
