/** The two settings of mail: `SMTP_URL` and `MAIL_FROM`. */
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { notUrl } from './store-url.ts'

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. */
  readonly isSecure: boolean
  readonly login: { readonly user: string; readonly password: string } | undefined
}

export interface MailAddress {
  readonly name: string
  readonly address: string
}

/** The domain in ASCII (punycode), as headers and greetings need it. */
export function domainOf({ address }: MailAddress): string {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return domainToASCII(domain) || domain
}

/**
 * The name of this machine in the greeting (`EHLO`). Containers have names without a dot, and nodemailer would send `[127.0.0.1]`
 * instead. Relays such as Google's refuse both.
 */
export function greetingName(machine: string, from: MailAddress): string {
  return machine.includes('.') && isIP(machine) === 0 ? machine : domainOf(from)
}

const usualPorts = { 'smtp:': 587, 'smtps:': 465 } as const

/** @throws Error whose message shows nothing of the value: it may hold a password */
export function readSmtpUrl(text: string | undefined): SmtpServer | undefined {
  if (text === undefined) return undefined
  if (!URL.canParse(text)) {
    throw new Error(notUrl)
  }
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text)
  if (protocol !== 'smtp:' && protocol !== 'smtps:') throw new Error('must begin with smtp:// or smtps://')
  if (hostname === '') throw new Error('must name a host')
  if ((pathname !== '' && pathname !== '/') || search !== '' || hash !== '') {
    throw new Error('must end with the host or its port: no path, and no parameters')
  }
  if ((username === '') !== (password === '')) throw new Error('must have a user and a password, or neither')
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? usualPorts[protocol] : Number(port),
    // Port 465 speaks TLS from the first byte (RFC 8314), whatever the scheme: the server there sends nothing before the handshake.
    isSecure: protocol === 'smtps:' || port === '465',
    login: username === '' ? undefined : { user: decoded(username), password: decoded(password) },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('must have a user and a password in which `%` is written `%25`')
  }
}

/** Without control characters: nothing of it can begin another header. */
const fromPattern =
  /^(?:([^<>"\p{Cc}]*?)\s*<([^\s<>@"(),:;\\]+@[^\s<>@"(),:;\\]+)>|([^\s<>@"(),:;\\]+@[^\s<>@"(),:;\\]+))$/u

export function readMailFrom(text: string | undefined): MailAddress | undefined {
  if (text === undefined) return undefined
  const [whole, name = '', named, bare] = fromPattern.exec(text.trim()) ?? []
  if (whole === undefined)
    throw new Error('must be an address such as `reports@example.com` or `Name <reports@example.com>`')
  return { name, address: named ?? bare! }
}
