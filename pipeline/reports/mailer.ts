/**
 * Sends mail by SMTP: the only importer of nodemailer. Each mail has a connection and a deadline of its own. Errors of
 * servers may quote an address, so a `MailFailed` only has their codes.
 */
import { hostname } from 'node:os'
import { createTransport } from 'nodemailer'
import { within } from '../../runtime/deadline.ts'
import { isLoopback } from '../../runtime/loopback.ts'
import { domainOf, greetingName, type MailAddress, type SmtpServer } from '../../runtime/mail-settings.ts'
import { reportMailMs, smtpAnswerBytesMax, smtpConnectMs } from '../../schemas/limits/report-limits.ts'
import { SendFailed } from './send-failed.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Without a host: the same for each attempt, so that a receiver may recognise a repeat. */
  readonly messageId: string
  /** Only mails that go out again and again have one. */
  readonly unsubscribeUrl?: string
}

export class MailFailed extends SendFailed {
  override name = 'MailFailed'
  /** @param isUncertain the server may have taken the mail */
  constructor(message: string, isUncertain: boolean) {
    super(message, { isUncertain })
  }
}

export interface Mailer {
  /** @throws MailFailed */
  send(mail: Mail, signal: AbortSignal): Promise<void>
  /** Connects and signs in. @throws MailFailed */
  verify(): Promise<void>
}

const tooLate = 'the mail server did not answer in time'
/** Where the process stops. */
const brokenOff = 'the mail was broken off'

/** Failures of a send before its content: the server has no mail. Broken connections and deadlines are none of these. */
const certainCodes = ['EDNS', 'ETLS', 'EAUTH', 'ENOAUTH', 'EENVELOPE', 'EMESSAGE', 'ECONFIG']

/** @param withinMs deadline of a mail, from the connection to the server's answer */
export function makeMailer(
  { host, port, isSecure, login }: SmtpServer,
  from: MailAddress,
  withinMs: number = reportMailMs,
): Mailer {
  const connectMs = Math.min(smtpConnectMs, withinMs)
  const isHere = isLoopback(host)
  const transport = createTransport({
    name: greetingName(hostname(), from),
    host,
    port,
    secure: isSecure,
    // A relay on this machine often has a certificate of its own making, and nobody between.
    ignoreTLS: isHere,
    requireTLS: !isHere && login !== undefined,
    ...(login && { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    dnsTimeout: connectMs,
    socketTimeout: withinMs,
    maxResponseSize: smtpAnswerBytesMax,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const domain = domainOf(from)
  return {
    send: ({ to, subject, text, html, messageId, unsubscribeUrl }, signal) =>
      within(withinMs, signal, async (ending) => {
        // An error of a send doesn't say how far it came. So most failures come here, where there is no mail yet.
        await verify(ending)
        try {
          await transport.sendMail({
            from,
            to: { name: '', address: to },
            subject,
            text,
            html,
            messageId: `<${messageId}@${domain}>`,
            headers: {
              ...(unsubscribeUrl !== undefined && {
                'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
                'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
              }),
              'Auto-Submitted': 'auto-generated',
            },
            signal: ending,
          })
        } catch (error) {
          throw failureOf(error, ending)
        }
      }),
    verify: () => within(withinMs, new AbortController().signal, verify),
  }

  async function verify(ending: AbortSignal): Promise<void> {
    const ended = new Promise<never>((_, reject) => {
      const stop = () => reject(ending.reason)
      if (ending.aborted) stop()
      else ending.addEventListener('abort', stop, { once: true })
    })
    try {
      await Promise.race([transport.verify(), ended])
    } catch (error) {
      throw new MailFailed(failureOf(error, ending).message, false)
    }
  }
}

interface SmtpError {
  readonly code?: string
  readonly responseCode?: number
  readonly command?: string
  /** `connect` where there was no connection. */
  readonly syscall?: string
  readonly timeoutType?: string
}

/** @param ending the deadline of the mail: errors of an aborted send don't say why */
function failureOf(error: unknown, ending: AbortSignal): MailFailed {
  if (ending.aborted) return new MailFailed(ending.reason?.name === 'TimeoutError' ? tooLate : brokenOff, true)
  const { code = 'no code', responseCode, command = '', syscall, timeoutType = 'SOCKET_TIMEOUT' } = error as SmtpError
  const isBefore = certainCodes.includes(code) || syscall === 'connect' || timeoutType !== 'SOCKET_TIMEOUT'
  const { originalCode = code } = error as { originalCode?: string }
  const said = [originalCode, responseCode, command && `at ${command}`].filter(Boolean).join(' ')
  return new MailFailed(`the mail server failed: ${said}`, responseCode === undefined && !isBefore)
}
