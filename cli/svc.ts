/** The `svc` command: what an operator does by hand. The commands are listed in `commands.ts`. */
import { CommandFailed } from './command.ts'
import { runCommandLine } from './run.ts'

const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
process.once('SIGTERM', () => interrupted.abort())

/** Whoever reads it may have enough: `svc events export | head`. The write that fails says so. */
process.stdout.on('error', () => {})
const closed = () => new CommandFailed('standard output was closed before all was written')

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    out: (text) =>
      new Promise((resolve, reject) => process.stdout.write(text, (error) => (error ? reject(closed()) : resolve()))),
    err: (text) => process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
  },
  interrupted.signal,
)
