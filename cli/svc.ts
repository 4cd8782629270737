/** The `svc` command: what an operator does by hand. The commands are listed in `commands.ts`. */
import { runCommandLine } from './run.ts'

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
process.once('SIGTERM', () => interrupted.abort())

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
  },
  interrupted.signal,
)
