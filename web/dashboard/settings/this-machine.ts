/** Whether an address is of the machine that the browser runs on. */

/** @param host as `location.hostname` has it, IPv6 in brackets */
export function isOfThisMachine(host: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(host)
}

/** The same for the first address in a text, such as a snippet's; false: there is none. */
export function namesThisMachine(text: string): boolean {
  return isOfThisMachine(/\/\/(\[[^\]]+\]|[^/:]+)/.exec(text)?.[1] ?? '')
}
