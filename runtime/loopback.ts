/** Whether the name of a host, or its address, means this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host)
}

/** Whether whoever listens on the host listens on all addresses of this machine, of IPv4 or of both kinds. */
export function isEveryAddress(host: string): boolean {
  return /^(0|0\.0\.0\.0|::0?)$/.test(host)
}
