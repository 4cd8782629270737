/** @returns the address, absolute; empty where it is none of the web */
export function absolute(address: string, base: string): string {
  if (address === '' || !URL.canParse(address, base)) return ''
  const { protocol, href } = new URL(address, base)
  return protocol === 'http:' || protocol === 'https:' ? href : ''
}
