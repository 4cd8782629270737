import { hkdfSync } from 'node:crypto'

/** Derives from SECRET_KEY a key of 32 bytes for each purpose (HKDF-SHA-256). No key reveals another. */
export function deriveKey(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `svc ${purpose}`, 32))
}
