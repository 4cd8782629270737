/** Why a request to somebody else's server failed, in words that its owner may read. */
import { TargetRefused } from './guarded-agent.ts'

const oddAnswer = 'The answer is not HTTP, or its headers are too large'
const texts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: 'The connection broke',
  EPIPE: 'The connection broke',
  UND_ERR_SOCKET: 'The connection broke',
  ETIMEDOUT: 'The host did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'The host did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'The host did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'The host did not answer in time',
  ENOTFOUND: 'There is no host of this name',
  EAI_AGAIN: 'The name of the host can not be looked up now',
  EHOSTUNREACH: 'The host can not be reached',
  ENETUNREACH: 'The host can not be reached',
  UND_ERR_HEADERS_OVERFLOW: oddAnswer,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The answer has another length than it says',
  // A status below 100.
  ERR_ASSERTION: oddAnswer,
}

export function failureText(error: unknown): string {
  if (error instanceof TargetRefused) return error.message
  const { code = '', name, errors } = error as { code?: string; name?: string; errors?: readonly unknown[] }
  if (name === 'TimeoutError') return 'The host did not answer in time'
  // No address of several could be connected to: the last failure stands for all.
  if (errors !== undefined && errors.length > 0) return failureText(errors.at(-1))
  const known = texts[code]
  if (known !== undefined) return known
  if (name === 'HTTPParserError') return oddAnswer
  if (isTlsCode(code)) return `TLS failed: ${code}`
  return `The request failed${code === '' ? '' : `: ${code}`}`
}

function isTlsCode(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERR_OSSL|HOSTNAME_MISMATCH)/.test(code)
}
