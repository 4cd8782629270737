/** One JSON line an occurrence on standard error. Never given a key, an address or an e-mail. */
import { type Logger, pino } from 'pino'

export type Log = Logger

export function makeLog(service: string, level: string): Log {
  return pino({ name: service, level, base: { service, pid: process.pid } }, pino.destination({ dest: 2, sync: true }))
}
