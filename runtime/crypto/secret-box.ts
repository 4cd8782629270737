/**
 * Encrypts what is stored and must not be read from a copy of the database: AES-256-GCM under a key of its own for each
 * purpose.
 *
 *   sealed: format u8 (1) | nonce 12 bytes | tag 16 bytes | ciphertext
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey } from './derived-key.ts'

export interface SecretBox {
  seal(text: string): Buffer
  /** @returns null where it was sealed with another key, so where `SECRET_KEY` was lost, or changed since */
  open(sealed: Buffer): string | null
}

/** For data that the API stores encrypted and the pipeline has to read. */
export const secretBoxPurpose = 'stored answers and webhook secrets'
/** For the secrets by which payment providers sign their events: the command line seals them, the API opens them. */
export const revenueSecretsPurpose = 'secrets of revenue connections'

/** For the credentials of social accounts: the command line and the API seal them, the pipeline opens them. */
export const accountCredentialsPurpose = 'credentials of social accounts'

/** For the secrets of the installation's apps at platforms: the command line seals them, the API opens them. */
export const platformAppsPurpose = 'secrets of apps at platforms'

/** For the keys by which search terms are pulled: the command line seals them, the pipeline opens them. */
export const searchKeysPurpose = 'keys of service accounts for search terms'

/** For the tokens of links in mails about accounts: the API seals them, the pipeline opens and sends them. */
export const accountMailPurpose = 'tokens of links in mails about accounts'

/** For the secrets of second factors: the API seals and opens them. */
export const secondFactorPurpose = 'secrets of second factors'

const format = 1
const nonceBytes = 12
const tagBytes = 16
const textStart = 1 + nonceBytes + tagBytes

export function makeSecretBox(secretKey: string, purpose: string): SecretBox {
  const key = deriveKey(secretKey, purpose)
  return {
    seal(text) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.of(format), nonce, cipher.getAuthTag(), ciphertext])
    },
    open(sealed) {
      if (sealed[0] !== format || sealed.length < textStart) return null
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + nonceBytes))
      decipher.setAuthTag(sealed.subarray(1 + nonceBytes, textStart))
      const text = decipher.update(sealed.subarray(textStart))
      try {
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return null
      }
    },
  }
}
