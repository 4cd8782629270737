/** The `svc` command: what an operator does by hand. The commands are listed in `commands.ts`. */
import { CommandFailed, OutputClosed } from './command.ts'
import { runCommandLine } from './run.ts'

/** By then most commands have ended that were interrupted. */
const stillThereMs = 1_000

const interrupted = new AbortController()
process.once('SIGINT', () => {
  interrupted.abort()
  // A store that hangs is waited for until its deadline.
  setTimeout(() => process.stderr.write('svc: stopping; Ctrl-C again ends it at once\n'), stillThereMs).unref()
})
process.once('SIGTERM', () => interrupted.abort())

/** Whoever reads them may have enough: `svc events export | head`. The write that fails says so. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

function faultOf(error: Error): Error {
  const isClosed = ['EPIPE', 'ERR_STREAM_DESTROYED'].includes((error as NodeJS.ErrnoException).code ?? '')
  return isClosed ? new OutputClosed() : new CommandFailed(`standard output can't be written: ${error.message}`)
}

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  {
    out: (text) =>
      new Promise((resolve, reject) =>
        process.stdout.write(text, (error) => (error ? reject(faultOf(error)) : resolve())),
      ),
    err: (text) => process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
  },
  interrupted.signal,
)
