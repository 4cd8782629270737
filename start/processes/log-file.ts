/** Log files of children: opened here and inherited, because a pipe would break with this process. */
import { mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'

const bytesMax = 20 * 2 ** 20
/** An uncaught error with its stack is shorter. */
const linesOfTrace = 30

/** Opens it for appending; close it once the child has it. */
export function openLogFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true })
  const file = openSync(path, 'a', 0o600)
  boundLogFile(path)
  return file
}

/** Empties a file that has grown too long. Its writers append, so they go on at its new end. */
export function boundLogFile(path: string): void {
  try {
    if (statSync(path).size > bytesMax) truncateSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** `text`, and behind it the last message of a program, where it has said any. @param since what it said before isn't meant */
export function withLastLine(text: string, path: string, since = 0): string {
  const isOld = (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < since
  return [text, isOld ? '' : lastLogLine(path)].filter(Boolean).join(': ')
}

/** The last message of a program, in a line: that of its last log line, or the error that ended it; empty: nothing. */
export function lastLogLine(path: string): string {
  let lines: string[]
  try {
    lines = readFileSync(path, 'utf8').trim().split('\n').slice(-linesOfTrace)
  } catch {
    return ''
  }
  const last = lines.at(-1) ?? ''
  try {
    const { msg, err } = JSON.parse(last) as { msg?: string; err?: { message?: string } }
    return [msg, err?.message].filter(Boolean).join(': ')
  } catch {
    // Postgres says after the reason that it is shut down.
    if (last.endsWith(' database system is shut down')) return lines.findLast((line) => / FATAL: /.test(line)) ?? last
    // Node prints an uncaught error with its stack behind it, and its own version last.
    return lines.findLast((line) => /^\w*Error\b/.test(line)) ?? last
  }
}
