/** A log whose lines a test reads. */
import { Writable } from 'node:stream'
import { type Log, makeLog } from '../../runtime/log.ts'

/** @param keep gets the text of each line, from `info` on */
export function makeKeptLog(keep: (text: string) => void): Log {
  const lines = new Writable({
    write(chunk, _, done) {
      keep(String(chunk))
      done()
    },
  })
  return makeLog('test', 'info', lines)
}
