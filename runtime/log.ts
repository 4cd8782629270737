/**
 * One JSON line an occurrence on standard error. Never given a key, an address or an e-mail. Errors of clients carry them
 * all the same: ioredis its command with the password, pg the row that failed. So of an error only what names it is written.
 */
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** Further causes are left out: a chain may be a circle. */
const causesMax = 4
const credentials = /:\/\/[^\s/@]{0,1000}@/g

export function makeLog(service: string, level: string, destination: DestinationStream = lossyDestination(2)): Log {
  const options = { name: service, level, base: { service, pid: process.pid }, serializers: { err: describeError } }
  return pino(options, destination)
}

/** A line that can't be written is lost, as on a full disk. That is no reason to end the process. */
export function lossyDestination(descriptor: number): DestinationStream {
  const open = () => {
    const opened = pino.destination({ dest: descriptor, sync: true })
    // One that has failed keeps its line, and all after it: they would fill the memory.
    opened.on('error', () => {
      stream = open()
    })
    return opened
  }
  let stream = open()
  return { write: (line) => void stream.write(line) }
}

/** Type, message, code and stack, and nothing else that hangs on it. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return withoutCredentials(String(error))
  const { code } = error as { code?: unknown }
  return {
    type: error.name === 'Error' ? error.constructor.name : error.name,
    message: withoutCredentials(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: withoutCredentials(stackOf(error)),
  }
}

/** With the stacks of its causes. */
function stackOf(error: Error): string {
  const stacks: string[] = []
  for (let at: unknown = error; at instanceof Error && stacks.length <= causesMax; at = at.cause) {
    stacks.push(at.stack ?? at.message)
  }
  return stacks.join('\ncaused by: ')
}

/** User and password of URLs. */
function withoutCredentials(text: string): string {
  return text.replace(credentials, '://…@')
}
