/** An SMTP server that keeps what it is sent, or refuses it, or is slow. */
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach } from 'vitest'

interface ReceivedMail {
  readonly to: string
  /** By name in lower case, unfolded and decoded. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly html: string
}

export interface MailServer {
  readonly port: number
  readonly mails: ReceivedMail[]
  /** Answers of the server to a recipient: `accept`, a temporary refusal, or none at all to the content. */
  behave: 'accept' | 'refuse' | 'hang'
  /** Recipients that it was asked to take. */
  asked: number
  close(): Promise<void>
}

/** For the tests of a file: each finds it without mails, and accepting. */
export function setUpMailServer() {
  let server: MailServer
  beforeAll(async () => {
    server = await startMailServer()
  })
  beforeEach(() => {
    server.mails.length = 0
    Object.assign(server, { behave: 'accept', asked: 0 })
  })
  afterAll(() => server?.close())
  return {
    /** With the login. */
    get url() {
      return `smtp://${mailLogin.user}:${mailLogin.password}@127.0.0.1:${server.port}`
    },
    get port() {
      return server.port
    },
    get mails() {
      return server.mails
    },
    get asked() {
      return server.asked
    },
    set behave(behave: MailServer['behave']) {
      server.behave = behave
    },
  }
}

export const mailLogin = { user: 'reports', password: 'pa55word' }

export async function startMailServer({ needsLogin = true } = {}): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: !needsLogin,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onAuth: ({ username, password }, _, done) => {
      const isGood = username === mailLogin.user && password === mailLogin.password
      return isGood ? done(null, { user: username }) : done(new Error('Invalid login'))
    },
    onRcptTo: ({ address }, _, done) => {
      state.asked += 1
      done(state.behave === 'refuse' ? Object.assign(new Error(`<${address}> later`), { responseCode: 451 }) : null)
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join()
        if (state.behave === 'hang') return
        state.mails.push({ to, ...parsed(Buffer.concat(chunks).toString('latin1')) })
        done(null)
      })
    },
  })
  // Connections that clients cut.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    mails: [],
    behave: 'accept',
    asked: 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return state
}

function parsed(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const { headers, body } = split(raw)
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type']!)![1]!
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.trimStart()))
  const bodyOf = (type: string) => {
    const part = parts.find((one) => one.headers['content-type']!.startsWith(type))!
    return decoded(part.body, part.headers['content-transfer-encoding'] ?? '7bit')
  }
  return { headers, text: bodyOf('text/plain'), html: bodyOf('text/html') }
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const [, head, body] = /^([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(raw)!
  const lines = head!.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines
    .map((line) => /^([^:]+):\s*(.*)$/.exec(line)!)
    .map(([, name, value]) => [name!.toLowerCase(), words(value!)])
  return { headers: Object.fromEntries(headers), body: body! }
}

function decoded(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  if (encoding !== 'quoted-printable') return body.replaceAll('\r\n', '\n')
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString().replaceAll('\r\n', '\n')
}

/** Encoded words (RFC 2047), as nodemailer writes them. */
function words(value: string): string {
  return value
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_, text) => decoded(text.replaceAll('_', ' '), 'quoted-printable'))
}
