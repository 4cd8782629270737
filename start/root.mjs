import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's folder. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** A line about a step that takes a while. On standard error: a command's own output may be read by a program. */
export function say(line) {
  process.stderr.write(`svc: ${line}\n`)
}
